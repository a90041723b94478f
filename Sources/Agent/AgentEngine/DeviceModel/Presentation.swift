import AgentProtocol
import PushCore

/// The presentation of a notification on the desktop.
package struct Presentation: Hashable, Sendable {
    /// The internal id of the notification that it shows.
    package var notification: NotificationID
    /// The app's bundle id.
    package var app: BundleID
    /// The name that people see.
    package var appName: String
    /// An icon's name or absolute path; `nil` leaves it to the desktop.
    package var icon: String?
    /// The same identifier of the same app is one notification on the screen.
    package var identifier: String
    /// The first line; may be empty.
    package var title: String
    /// The second line; may be empty.
    package var subtitle: String
    /// The text; may be empty.
    package var body: String
    /// The category's identifier in the app; empty for none.
    package var category: String
    /// How much it may interrupt.
    package var urgency: Urgency
    /// The label of the button that opens the notification, where the desktop shows one.
    package var openLabel = plainOpenLabel
    /// Further buttons, the most important first.
    package var buttons: [Button] = []
    /// The absolute path of a picture, which may move.
    package var image: String?
    /// The absolute path of a still version of a moving picture, where there is one.
    package var still: String?
    /// The sound that is played when the notification appears on the screen.
    package var sound = Sound.silent
    /// How loud, 0 to 1; `nil` leaves it to the desktop.
    package var volume: Double?
    /// The progress to show, 0 to 1; `nil` for none.
    package var progress: Double?
    /// Whether it stays until the person answers it.
    package var stays = false
    /// Whether it is useless without its buttons: then it fails where the desktop shows no buttons.
    package var isQuestion = false
    /// The name of the app's desktop file without `.desktop`.
    package var desktopEntry: String?

    /// The default label of the button that opens the notification.
    package static let plainOpenLabel = "Open"

    /// How much it may interrupt.
    package enum Urgency: UInt8, Sendable, CaseIterable {
        /// The notification interrupts less than others.
        case low = 0
        /// The notification comes to the screen, and goes by itself.
        case normal = 1
        /// Stays until the person answers it.
        case critical = 2
    }

    /// A button of a notification.
    package struct Button: Hashable, Sendable {
        /// The action's identifier in the app, which ``PresenterEvent/pressed(_:button:activationToken:)`` carries.
        package var identifier: String
        /// The button's label.
        package var label: String
        /// The text field of a button that asks for text; `nil` for a plain button.
        package var reply: Reply?

        /// A button that is pressed, or with a reply one that asks for text.
        package init(identifier: String, label: String, reply: Reply? = nil) {
            self.identifier = identifier
            self.label = label
            self.reply = reply
        }
    }

    /// The texts of a reply's field.
    package struct Reply: Hashable, Sendable {
        /// The placeholder of the empty field.
        package var placeholder: String
        /// The label of the button that sends the text.
        package var submitLabel: String

        /// Creates the texts of a reply's field; either may be empty.
        package init(placeholder: String, submitLabel: String) {
            self.placeholder = placeholder
            self.submitLabel = submitLabel
        }
    }

    /// The sound of a notification.
    package enum Sound: Hashable, Sendable {
        /// Nothing.
        case silent
        /// The desktop's own sound for messages.
        case standard
        /// The absolute path of a sound file.
        case file(String)
    }

    /// A presentation without buttons, pictures and sound; those are set afterwards.
    package init(
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
package struct ShownPresentation: Hashable, Sendable {
    /// The presentation as it was shown, with its buttons and text at that time.
    package var presentation: Presentation
    /// The handle from ``PresentationOutcome/presented(handle:note:)``.
    package var handle: String

    /// Something that the presenter may find again by its handle.
    package init(presentation: Presentation, handle: String) {
        self.presentation = presentation
        self.handle = handle
    }
}

/// The outcome of a presentation.
package enum PresentationOutcome: Hashable, Sendable {
    /// The notification is shown. `handle` lets a later run find it again, `nil` when that is impossible; `note`
    /// describes how it was shown where that is unusual.
    case presented(handle: String?, note: String?)
    /// The notification was not shown on the screen, for this reason; it is in the list, where the list may have it.
    case kept(reason: String)
    /// The notification could not be shown, and why.
    case failed(reason: String)
}

/// A person's action on a shown notification, or a change on the desktop.
package enum PresenterEvent: Hashable, Sendable {
    /// The notification was opened; the token lets the app take the focus.
    case opened(NotificationID, activationToken: String?)
    /// A button was pressed; one that asks for text only where the desktop cannot ask for it.
    case pressed(NotificationID, button: String, activationToken: String?)
    /// Text was typed into the field of one of its buttons.
    case replied(NotificationID, button: String, text: String)
    /// A person took it off the screen without opening it.
    case dismissed(NotificationID)
    /// The screen was locked, or unlocked.
    case locked(Bool)
    /// The notification left the screen by itself or because it was taken away.
    case left(NotificationID)
    /// The notification is on the screen again, or at last, after the desktop had nothing to show it with.
    case shownAgain(NotificationID, handle: String)
}
