import AgentCore
import CLinux
import DevicePorts
import Foundation
import Synchronization

/// Tells which program's window has the focus on an X11 screen.
///
/// Nothing is connected before ``start(events:)``; a screen that cannot be reached has ended.
public final class WindowFocus: FocusSource {
    private let display: String
    private let wakeUp: WakeUp

    /// The screen that the environment names (`DISPLAY`).
    ///
    /// - Returns: `nil` where it names none, or the system has no descriptor left.
    public init?(environment: [String: String]) {
        guard let display = environment["DISPLAY"], !display.isEmpty, let wakeUp = WakeUp() else { return nil }
        self.display = display
        self.wakeUp = wakeUp
    }

    public func start(events: @escaping @Sendable (FocusEvent) -> Void) {
        let (display, wakeUp) = (display, wakeUp)
        OwnThread.begin("aldaba-focus") { FocusWatch(display: display, wakeUp: wakeUp, tell: events).run() }
    }

    public func stop() { wakeUp.end() }
}

/// Ends a thread that polls.
final class WakeUp: Sendable {
    /// Readable from the end on.
    let descriptor: Int32
    private let over = Mutex(false)

    init?() {
        descriptor = aldaba_wake_up_open()
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    var isOver: Bool { over.withLock { $0 } }

    func end() {
        over.withLock { $0 = true }
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }
}
