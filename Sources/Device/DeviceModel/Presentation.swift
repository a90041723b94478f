import AgentWire
import PushModel

/// What is to be shown.
public struct Presentation: Hashable, Sendable {
    /// The internal id of the notification that it shows.
    public var notification: NotificationID
    /// The app's bundle id.
    public var app: BundleID
    /// The name that people see.
    public var appName: String
    /// An icon's name or absolute path; `nil` leaves it to the desktop.
    public var icon: String?
    /// The same identifier of the same app is one notification on the screen.
    public var identifier: String
    /// The first line; may be empty.
    public var title: String
    /// The second line; may be empty.
    public var subtitle: String
    /// The text; may be empty.
    public var body: String
    /// The category's identifier in the app; empty for none.
    public var category: String
    /// How much it may interrupt.
    public var urgency: Urgency
    /// What the button that opens it says, where the desktop shows one.
    public var openLabel = plainOpenLabel
    /// Further buttons, the most important first.
    public var buttons: [Button] = []
    /// The absolute path of a picture, which may move.
    public var image: String?
    /// That of a picture of it that does not, where there is one.
    public var still: String?
    /// What is heard when it comes to the screen.
    public var sound = Sound.silent
    /// How loud, 0 to 1; `nil` leaves it to the desktop.
    public var volume: Double?
    /// Whether it stays until somebody answers it.
    public var stays = false
    /// Whether it is of no use without its buttons: then it fails where the desktop shows none.
    public var isQuestion = false
    /// The name of the app's desktop file without `.desktop`.
    public var desktopEntry: String?

    /// What the button says where the notification says nothing of it.
    public static let plainOpenLabel = "Open"

    /// How much it may interrupt.
    public enum Urgency: UInt8, Sendable, CaseIterable {
        /// It interrupts less than others.
        case low = 0
        /// It comes to the screen, and goes by itself.
        case normal = 1
        /// Stays until somebody answers it.
        case critical = 2
    }

    /// One button.
    public struct Button: Hashable, Sendable {
        /// The action's identifier in the app, which ``PresenterEvent/pressed(_:button:activationToken:)`` tells.
        public var identifier: String
        /// What stands on it.
        public var label: String
        /// Where it asks for text: what stands in the empty field, and on the button that sends it.
        public var reply: Reply?

        /// A button that is pressed, or with a reply one that asks for text.
        public init(identifier: String, label: String, reply: Reply? = nil) {
            self.identifier = identifier
            self.label = label
            self.reply = reply
        }
    }

    /// What stands around the field of a reply.
    public struct Reply: Hashable, Sendable {
        /// What stands in the field while it is empty.
        public var placeholder: String
        /// What stands on the button that sends the text.
        public var submitLabel: String

        /// The words of one reply's field; either may be empty.
        public init(placeholder: String, submitLabel: String) {
            self.placeholder = placeholder
            self.submitLabel = submitLabel
        }
    }

    /// What is heard.
    public enum Sound: Hashable, Sendable {
        /// Nothing.
        case silent
        /// The desktop's own sound for messages.
        case standard
        /// The absolute path of a sound file.
        case file(String)
    }

    /// A presentation without buttons, pictures and sound; those are set afterwards.
    public init(
        notification: NotificationID, app: BundleID, appName: String, icon: String? = nil, identifier: String,
        title: String, subtitle: String = "", body: String, category: String = "", urgency: Urgency = .normal
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
    }
}

/// Something that an earlier run of the agent showed.
public struct ShownPresentation: Hashable, Sendable {
    /// What it showed, with the buttons and the text of then.
    public var presentation: Presentation
    /// What ``PresentationOutcome/presented(handle:note:)`` gave for it.
    public var handle: String

    /// Something that the presenter may find again by its handle.
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
    /// Nobody could see it, and why: it is in the list, where the list may have it.
    case kept(reason: String)
    /// It could not be shown, and why.
    case failed(reason: String)
}

/// What people do with what is shown.
public enum PresenterEvent: Hashable, Sendable {
    /// It was opened; the token lets the app take the focus.
    case opened(NotificationID, activationToken: String?)
    /// One of its buttons was pressed; of one that asks for text only where the desktop cannot ask itself.
    case pressed(NotificationID, button: String, activationToken: String?)
    /// Text was typed into the field of one of its buttons.
    case replied(NotificationID, button: String, text: String)
    /// A person took it off the screen without opening it.
    case dismissed(NotificationID)
    /// The screen was locked, or unlocked.
    case locked(Bool)
    /// It left the screen by itself or because it was taken away.
    case left(NotificationID)
    /// It is on the screen again, or at last, after the desktop had nothing to show it with.
    case shownAgain(NotificationID, handle: String)
}
