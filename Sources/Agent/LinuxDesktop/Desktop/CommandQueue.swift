import AgentEngine
import Platform
import PushCore
import Synchronization

/// The agent's commands for the thread that owns the bus connection: bounded, and it wakes the thread.
///
/// Guarantees: accepted commands stay in order. An update is always accepted, and only the newest of a notification
/// waits: no caller would retry it, and it is what removes text from a locked screen.
final class CommandQueue: Sendable {
    enum Command: Sendable {
        case start([ShownPresentation], events: @Sendable (PresenterEvent) -> Void)
        case present(Presentation, complete: @Sendable (PresentationOutcome) -> Void)
        case update(Presentation)
        case withdraw(NotificationID)
        case badge(Int, desktopEntry: String)
        case play(Presentation.Sound, volume: Double?)
        case activate(AppActivation, complete: @Sendable (AppActivationOutcome) -> Void)
        case stop

        /// The notification that it updates.
        fileprivate var updated: NotificationID? {
            if case .update(let presentation) = self { presentation.notification } else { nil }
        }
    }

    /// The most commands that wait, updates apart.
    static let limit = 512
    /// The most commands at which a withdrawal, a badge or a sound is still accepted.
    static let orderLimit = 2_048
    /// The most updates that wait, one a notification: as many as the state has. Beyond that the oldest goes.
    static let updateLimit = Screen.limit + DesktopNotificationState.waitingLimit + DesktopNotificationState.missedLimit

    /// Readable while there is something to take.
    var descriptor: Int32 { wakeUp.descriptor }
    private let wakeUp: WakeUp
    private let waiting = Mutex(Waiting())

    private struct Waiting {
        var commands: [Command] = []
        var updates = 0

        /// Removes the earlier update of a notification; the new one is appended behind later commands.
        mutating func makeRoom(forUpdateOf id: NotificationID) {
            let old =
                commands.firstIndex { $0.updated == id }
                ?? (updates >= CommandQueue.updateLimit ? commands.firstIndex { $0.updated != nil } : nil)
            if let old { commands.remove(at: old) } else { updates += 1 }
        }
    }

    /// `nil` when the system has no descriptor left.
    init?() {
        guard let wakeUp = try? WakeUp() else { return nil }
        self.wakeUp = wakeUp
    }

    /// - Returns: `false` when the queue is full; the command was not taken. `stop` and updates always are.
    func put(_ command: Command) -> Bool {
        let isTaken = waiting.withLock { waiting in
            switch command {
            case .stop: break
            case .update(let presentation): waiting.makeRoom(forUpdateOf: presentation.notification)
            // No caller retries these.
            case .withdraw, .badge, .play:
                guard waiting.commands.count - waiting.updates < Self.orderLimit else { return false }
            default: guard waiting.commands.count - waiting.updates < Self.limit else { return false }
            }
            waiting.commands.append(command)
            return true
        }
        wakeUp.signal()
        return isTaken
    }

    /// Everything that waits, in order.
    func take() -> [Command] {
        wakeUp.clear()
        return waiting.withLock { waiting in
            defer { waiting = Waiting() }
            return waiting.commands
        }
    }
}
