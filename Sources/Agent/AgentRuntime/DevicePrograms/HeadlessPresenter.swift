import AgentEngine
import Logging
import Networking
import PushCore

/// The presenter of a machine without a session bus: nothing is shown, everything is stored. A program of the person's
/// choice may be run.
package final class HeadlessPresenter: Presenter {
    /// `false`: there is no person to ask.
    package var hasScreen: Bool { false }

    private let logger: Logger
    private let hook: PresenterHook?

    /// A presenter that writes to the log, and runs a program where one is given.
    ///
    /// - Parameter hook: The absolute path of a program that is run for each notification, see ``PresenterHook``.
    package init(logger: Logger, hook: String? = nil) {
        self.logger = logger
        self.hook = hook.map { PresenterHook(path: $0) }
    }

    /// Logs that there is no screen, and reports one that is not locked. The notifications of an earlier run are not
    /// shown anywhere.
    package func start(shown: [ShownPresentation], events: @escaping @Sendable (PresenterEvent) -> Void) {
        logger.notice("There is no session bus: notifications are kept, and none is shown on a screen.")
        events(.locked(false))
    }

    /// Without a program the outcome is `kept`, since the notification cannot be seen; else it is the run's.
    package func present(
        _ presentation: Presentation, then complete: @escaping @Sendable (PresentationOutcome) -> Void
    ) {
        logger.debug(
            "There is no screen to show a notification on.",
            metadata: [
                LogKey.notification: "\(presentation.notification)", LogKey.topic: "\(presentation.app)",
            ])
        guard let hook else { return complete(.kept(reason: "there is no screen")) }
        hook.run(presentation, then: complete)
    }

    /// Does nothing: no notification is on a screen.
    package func update(_ presentation: Presentation) {}

    /// Does nothing: there are no icons.
    package func badge(_ count: Int, desktopEntry: String) {}

    /// Does nothing: no sound is played.
    package func play(_ sound: Presentation.Sound, volume: Double?) {}

    /// Does nothing: no notification is on a screen.
    package func withdraw(_ notification: NotificationID) {}

    /// Does nothing: runs of the program end by themselves.
    package func stop() {}
}
