import AgentProtocol
import PushCore

/// The question whether an app may send notifications, as a person sees it.
package enum AuthorizationQuestion {
    /// The answers of a person; the raw values name the buttons.
    package enum Answer: String, CaseIterable {
        /// Alerts, sounds and badges, as the app asked.
        case allow
        /// Into the list only: no alerts, sounds and badges. The person may change each of these.
        case quiet
        /// Nothing; the app may ask no more.
        case deny

        /// The button's label.
        package var label: String {
            switch self {
            case .allow: "Allow"
            case .quiet: "Deliver Quietly"
            case .deny: "Don’t Allow"
            }
        }

        /// Stores the answer in the app's record.
        package func apply(to record: inout AppNotificationRecord) {
            record.authorization = self == .deny ? .denied : .authorized
            guard self == .quiet else { return }
            (record.settings.alerts, record.settings.sounds, record.settings.badges) = (false, false, false)
        }
    }

    private static let identifier = "aldaba.authorization"

    /// The question about the app of a manifest, which asks for these `options`.
    package static func presentation(_ id: NotificationID, options: UInt, _ manifest: AppManifest) -> Presentation {
        var question = Presentation(
            notification: id, app: manifest.id, appName: manifest.name, icon: manifest.icon,
            identifier: identifier,
            // Notification servers cut a title that does not fit into a line, such as that of Xfce.
            title: "Allow “\(manifest.name)” to notify?",
            body: "“\(manifest.name)” would like to send you notifications with \(words(for: options)). You can change "
                + "this at any time.")
        question.buttons = Answer.allCases.map { Presentation.Button(identifier: $0.rawValue, label: $0.label) }
        question.stays = true
        question.isQuestion = true
        question.desktopEntry = manifest.desktopEntry
        return question
    }

    /// The placeholder of a question that an earlier run of the agent left on the screen.
    package static func place(_ id: NotificationID, app: BundleID) -> Presentation {
        var place = Presentation(
            notification: id, app: app, appName: app.rawValue, identifier: identifier, title: "", body: "")
        place.isQuestion = true
        return place
    }

    private static func words(for options: UInt) -> String {
        let kinds = [
            (AuthorizationOption.alert, "alerts"), (AuthorizationOption.sound, "sounds"),
            (AuthorizationOption.badge, "a number on the icon"),
        ]
        let words = kinds.filter { options & $0.0 != 0 }.map(\.1)
        guard let last = words.last else { return "alerts, sounds and a number on the icon" }
        return words.count == 1 ? last : words.dropLast().joined(separator: ", ") + " and " + last
    }
}
