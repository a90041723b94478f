import AgentEngine
import Foundation
import Logging
import Platform
import PushCore
import Synchronization

/// Shows notifications through the session bus' org.freedesktop.Notifications, and brings apps to the front over it.
///
/// One thread owns the connection; it sleeps until the bus or the agent has something for it. What the agent asks
/// is queued; when the queue is full, it is refused with a reason, but for updates, which are always taken.
package final class DesktopPresenter: Presenter, AppActivator {
    private let queue: CommandQueue
    private let fault = ScreenFault()

    /// The reason why nothing can be shown: no notification server runs or can be started, or the session bus is gone.
    package var screenFault: String? { fault.reason }

    /// The address of the user session's bus: `DBUS_SESSION_BUS_ADDRESS`, else the socket in `XDG_RUNTIME_DIR`.
    ///
    /// - Returns: `nil` when there is neither.
    package static func sessionBusAddress(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String? {
        if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty { return address }
        guard let folder = environment["XDG_RUNTIME_DIR"], !folder.isEmpty,
            FileManager.default.fileExists(atPath: folder + "/bus")
        else { return nil }
        return "unix:path=\(folder)/bus"
    }

    /// Connects to the bus; waits half a minute at most for its answer.
    ///
    /// - Parameters:
    ///   - address: The session bus.
    ///   - login: The login manager that reports whether the screen is locked; `nil` leaves that to the screen savers.
    /// - Returns: `nil` when the session bus cannot be reached; the reason is logged.
    package init?(address: String, login: LoginPlace? = nil, logger: Logger) {
        guard let queue = CommandQueue() else { return nil }
        self.queue = queue
        let verdict = Verdict()
        NamedThread.begin("aldaba-desktop") { [fault] in
            let worker = BusWorker(address: address, login: login, queue: queue, fault: fault, logger: logger)
            verdict.give(worker.connect(timeout: BusWorker.longTimeout))
            worker.run()
        }
        guard verdict.wait() else {
            _ = queue.put(.stop)
            return nil
        }
    }

    /// Takes over what an earlier run showed, and begins to report.
    package func start(shown: [ShownPresentation], events: @escaping @Sendable (PresenterEvent) -> Void) {
        _ = queue.put(.start(shown, events: events))
    }

    /// Fails at once when the queue is full.
    package func present(
        _ presentation: Presentation, then complete: @escaping @Sendable (PresentationOutcome) -> Void
    ) {
        guard queue.put(.present(presentation, complete: complete)) else {
            return complete(.failed(reason: "\(CommandQueue.limit) commands wait for the desktop already"))
        }
    }

    /// Never refused: it takes the place of one that waits for the same notification, and where too many wait, of the
    /// oldest.
    package func update(_ presentation: Presentation) { _ = queue.put(.update(presentation)) }

    /// Over com.canonical.Unity.LauncherEntry; without effect where no launcher listens, and dropped when the queue is
    /// full.
    package func badge(_ count: Int, desktopEntry: String) { _ = queue.put(.badge(count, desktopEntry: desktopEntry)) }

    /// Left out when the queue is full.
    package func play(_ sound: Presentation.Sound, volume: Double?) { _ = queue.put(.play(sound, volume: volume)) }

    /// Left out when the queue is full.
    package func withdraw(_ notification: NotificationID) { _ = queue.put(.withdraw(notification)) }

    /// Calls the app on the session bus; nothing is started when the queue is full.
    package func activate(
        _ activation: AppActivation, then complete: @escaping @Sendable (AppActivationOutcome) -> Void
    ) {
        guard queue.put(.activate(activation, complete: complete)) else {
            return complete(.notStarted(reason: "\(CommandQueue.limit) commands wait for the desktop already"))
        }
    }

    /// Ends the thread once it has carried out what was asked before; nothing is answered or reported any more.
    package func stop() { _ = queue.put(.stop) }
}

/// Whether the thread could connect, from it to who started it.
private final class Verdict: Sendable {
    private let value = Mutex(false)
    private let given = DispatchSemaphore(value: 0)

    func give(_ isConnected: Bool) {
        value.withLock { $0 = isConnected }
        given.signal()
    }

    func wait() -> Bool {
        given.wait()
        return value.withLock { $0 }
    }
}
