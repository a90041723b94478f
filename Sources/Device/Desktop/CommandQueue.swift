import AgentCore
import CLinux
import Glibc
import PushModel
import Synchronization

/// What the agent asks of the thread that owns the bus connection: bounded, and it wakes the thread.
final class CommandQueue: Sendable {
    enum Command: Sendable {
        case start([ShownPresentation], events: @Sendable (PresenterEvent) -> Void)
        case present(Presentation, complete: @Sendable (PresentationOutcome) -> Void)
        case update(Presentation)
        case withdraw(NotificationID)
        case badge(Int, desktopEntry: String)
        case activate(AppActivation, complete: @Sendable (AppActivationOutcome) -> Void)
        case stop
    }

    /// The most commands that wait.
    static let limit = 512

    /// Readable while there is something to take.
    let descriptor: Int32
    private let commands = Mutex<[Command]>([])

    /// `nil` when the system has no descriptor left.
    init?() {
        descriptor = aldaba_wake_up_open()
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// - Returns: `false` when the queue is full; the command was not taken. `stop` always is.
    func put(_ command: Command) -> Bool {
        let isTaken = commands.withLock { commands in
            if case .stop = command {} else if commands.count >= Self.limit { return false }
            commands.append(command)
            return true
        }
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
        return isTaken
    }

    /// Everything that waits, in order.
    func take() -> [Command] {
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
        return commands.withLock { commands in
            defer { commands = [] }
            return commands
        }
    }
}
