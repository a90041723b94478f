import PushModel

/// Shows notifications; the port behind which the desktop stands.
///
/// Every method may be called on any thread and returns at once.
public protocol Presenter: Sendable {
    /// Begins to report what people do. Called once, before anything is presented.
    ///
    /// - Parameters:
    ///   - shown: What an earlier run put on the screen and knows nothing of since, oldest first.
    ///   - events: Called on a thread of the presenter's; must not block.
    func start(shown: [ShownPresentation], events: @escaping @Sendable (PresenterEvent) -> Void)

    /// Shows one notification; one with the same app and identifier is replaced in place.
    ///
    /// `complete` is called exactly once, within a few seconds also when nobody answers; after ``stop()`` not at
    /// all. What is asked for again before its answer is shown once, and both get the one outcome.
    func present(_ presentation: Presentation, then complete: @escaping @Sendable (PresentationOutcome) -> Void)

    /// Takes a notification off the screen; one that is not there is ignored.
    func withdraw(_ notification: NotificationID)

    /// Ends its thread and its connections; what is on the screen stays, and what is not answered stays unanswered.
    func stop()
}

/// What is to be shown.
public struct Presentation: Hashable, Sendable {
    public var notification: NotificationID
    public var app: String
    public var appName: String
    public var icon: String?
    /// The same identifier of the same app is one notification on the screen.
    public var identifier: String
    public var title: String
    public var subtitle: String
    public var body: String
    public var category: String
    public var urgency: Urgency
    public var playsSound: Bool

    /// How much it may interrupt.
    public enum Urgency: UInt8, Sendable, CaseIterable {
        case low = 0
        case normal = 1
        /// Stays until somebody answers it.
        case critical = 2
    }

    public init(
        notification: NotificationID, app: String, appName: String, icon: String? = nil, identifier: String,
        title: String, subtitle: String = "", body: String, category: String = "", urgency: Urgency = .normal,
        playsSound: Bool = false
    ) {
        self.notification = notification
        self.app = app
        self.appName = appName
        self.icon = icon
        self.identifier = identifier
        self.title = title
        self.subtitle = subtitle
        self.body = body
        self.category = category
        self.urgency = urgency
        self.playsSound = playsSound
    }
}

/// Something that an earlier run of the agent showed.
public struct ShownPresentation: Hashable, Sendable {
    public var presentation: Presentation
    /// What ``PresentationOutcome/presented(handle:note:)`` gave for it.
    public var handle: String

    public init(presentation: Presentation, handle: String) {
        self.presentation = presentation
        self.handle = handle
    }
}

/// What became of a presentation.
public enum PresentationOutcome: Hashable, Sendable {
    /// It is shown. `handle` lets a later run find it again, `nil` when that cannot be; `note` says how it was
    /// shown where that is not plain.
    case presented(handle: String?, note: String?)
    /// It could not be shown, and why.
    case failed(reason: String)
}

/// What people do with what is shown.
public enum PresenterEvent: Hashable, Sendable {
    /// It was opened; the token lets the app take the focus.
    case opened(NotificationID, activationToken: String?)
    case dismissed(NotificationID)
    /// It left the screen by itself or because it was taken away.
    case left(NotificationID)
}
