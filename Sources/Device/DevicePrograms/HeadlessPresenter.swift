import DeviceModel
import DevicePorts
import Logging
import Observability
import PushModel

/// The presenter of a machine without a session bus: nothing is shown, everything is stored; a program of the person's
/// choice may be told.
public final class HeadlessPresenter: Presenter {
    public var hasScreen: Bool { false }

    private let logger: Logger
    private let hook: PresenterHook?

    /// - Parameter hook: The absolute path of a program that is run for each notification, see ``PresenterHook``.
    public init(logger: Logger, hook: String? = nil) {
        self.logger = logger
        self.hook = hook.map { PresenterHook(path: $0) }
    }

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
        guard let hook else { return complete(.presented(handle: nil, note: "headless")) }
        hook.run(presentation, then: complete)
    }

    public func update(_ presentation: Presentation) {}

    public func badge(_ count: Int, desktopEntry: String) {}

    public func play(_ sound: Presentation.Sound, volume: Double?) {}

    public func withdraw(_ notification: NotificationID) {}

    public func stop() {}
}
