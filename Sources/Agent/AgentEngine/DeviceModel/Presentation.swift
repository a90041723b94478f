import AgentProtocol
import PushCore

/// The presentation of a notification on the desktop.
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
    /// The label of the button that opens the notification, where the desktop shows one.
    public var openLabel = plainOpenLabel
    /// Further buttons, the most important first.
    public var buttons: [Button] = []
    /// The absolute path of a picture, which may move.
    public var image: String?
    /// The absolute path of a still version of a moving picture, where there is one.
    public var still: String?
    /// The sound that is played when the notification appears on the screen.
    public var sound = Sound.silent
    /// How loud, 0 to 1; `nil` leaves it to the desktop.
    public var volume: Double?
    /// Whether it stays until the person answers it.
    public var stays = false
    /// Whether it is useless without its buttons: then it fails where the desktop shows no buttons.
    public var isQuestion = false
    /// The name of the app's desktop file without `.desktop`.
    public var desktopEntry: String?

    /// The default label of the button that opens the notification.
    public static let plainOpenLabel = "Open"

    /// How much it may interrupt.
    public enum Urgency: UInt8, Sendable, CaseIterable {
        /// It interrupts less than others.
        case low = 0
        /// It comes to the screen, and goes by itself.
        case normal = 1
        /// Stays until the person answers it.
        case critical = 2
    }

    /// A button of a notification.
    public struct Button: Hashable, Sendable {
        /// The action's identifier in the app, which ``PresenterEvent/pressed(_:button:activationToken:)`` carries.
        public var identifier: String
        /// The button's label.
        public var label: String
        /// The text field of a button that asks for text; `nil` for a plain button.
        public var reply: Reply?

        /// A button that is pressed, or with a reply one that asks for text.
        public init(identifier: String, label: String, reply: Reply? = nil) {
            self.identifier = identifier
            self.label = label
            self.reply = reply
        }
    }

    /// The texts of a reply's field.
    public struct Reply: Hashable, Sendable {
        /// The placeholder of the empty field.
        public var placeholder: String
        /// The label of the button that sends the text.
        public var submitLabel: String

        /// Creates the texts of a reply's field; either may be empty.
        public init(placeholder: String, submitLabel: String) {
            self.placeholder = placeholder
            self.submitLabel = submitLabel
        }
    }

    /// The sound of a notification.
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
    /// The presentation as it was shown, with its buttons and text at that time.
    public var presentation: Presentation
    /// The handle from ``PresentationOutcome/presented(handle:note:)``.
    public var handle: String

    /// Something that the presenter may find again by its handle.
    public init(presentation: Presentation, handle: String) {
        self.presentation = presentation
        self.handle = handle
    }
}

/// The outcome of a presentation.
public enum PresentationOutcome: Hashable, Sendable {
    /// It is shown. `handle` lets a later run find it again, `nil` when that is impossible; `note` describes how it was
    /// shown where that is unusual.
    case presented(handle: String?, note: String?)
    /// It was not shown on the screen, for this reason; it is in the list, where the list may have it.
    case kept(reason: String)
    /// It could not be shown, and why.
    case failed(reason: String)
}

/// A person's action on a shown notification, or a change on the desktop.
public enum PresenterEvent: Hashable, Sendable {
    /// It was opened; the token lets the app take the focus.
    case opened(NotificationID, activationToken: String?)
    /// A button was pressed; one that asks for text only where the desktop cannot ask for it.
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
