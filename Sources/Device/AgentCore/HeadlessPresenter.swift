import Logging
import Observability
import PushModel

/// The presenter of a machine without a session bus: nothing is shown, everything is stored.
public struct HeadlessPresenter: Presenter {
    private let logger: Logger

    public init(logger: Logger) { self.logger = logger }

    public func start(shown: [ShownPresentation], events: @escaping @Sendable (PresenterEvent) -> Void) {
        logger.notice("There is no session bus: notifications are kept, and none is shown on a screen.")
        events(.locked(false))
    }

    public func present(
        _ presentation: Presentation, then complete: @escaping @Sendable (PresentationOutcome) -> Void
    ) {
        logger.debug(
            "presented",
            metadata: [
                LogKey.notification: "\(presentation.notification)", LogKey.topic: "\(presentation.app)",
            ])
        complete(.presented(handle: nil, note: "headless"))
    }

    public func update(_ presentation: Presentation) {}

    public func badge(_ count: Int, desktopEntry: String) {}

    public func withdraw(_ notification: NotificationID) {}

    public func stop() {}
}
