import PushCore

/// Shows notifications; a port, implemented by the desktop.
///
/// Every method may be called on any thread and returns at once.
package protocol Presenter: Sendable {
    /// Whether there is a screen, so that people can be asked; `true` by default.
    var hasScreen: Bool { get }

    /// Why nothing can be seen on the screen now, for people; `nil` where nothing is known to be wrong.
    var screenFault: String? { get }

    /// Starts reporting people's actions. Called once, before anything is presented. The first report is whether the
    /// screen is locked, as soon as that is known.
    ///
    /// - Parameters:
    ///   - shown: The notifications that an earlier run put on the screen, in their last known state, oldest first.
    ///   - events: Called on a thread of the presenter's; must not block.
    func start(shown: [ShownPresentation], events: @escaping @Sendable (PresenterEvent) -> Void)

    /// Shows one notification; one with the same app and identifier is replaced in place.
    ///
    /// `complete` is called exactly once, within a minute even without an answer; after ``stop()`` not at all. A
    /// notification that is requested again before its answer is shown once, and both calls get the one outcome.
    func present(_ presentation: Presentation, then complete: @escaping @Sendable (PresentationOutcome) -> Void)

    /// Changes the look of a notification that is on the screen, in its place and without a sound.
    ///
    /// The outcome is not reported. It changes a notification that waits to be shown, and follows one that is being
    /// shown or is shown. It neither restores a notification that has gone nor replaces a newer one.
    func update(_ presentation: Presentation)

    /// Takes a notification off the screen; one that is not there is ignored.
    func withdraw(_ notification: NotificationID)

    /// Shows a number on an app's icon where the desktop has such a thing; 0 takes it away.
    ///
    /// - Parameter desktopEntry: The name of the app's desktop file without `.desktop`.
    func badge(_ count: Int, desktopEntry: String)

    /// Plays a sound that comes without a text, where there is something to play it with.
    ///
    /// - Parameter volume: 0 to 1; `nil` leaves it to the desktop.
    func play(_ sound: Presentation.Sound, volume: Double?)

    /// Ends its thread and its connections; what is on the screen stays, and what is not answered stays unanswered.
    func stop()
}

extension Presenter {
    /// `true`: a presenter has a screen by default.
    package var hasScreen: Bool { true }

    /// `nil`: no fault is known by default.
    package var screenFault: String? { nil }
}
