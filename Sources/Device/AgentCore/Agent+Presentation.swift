import AgentWire
import Foundation
import PushModel

/// How a stored notification looks on the screen.
extension Agent {
    /// Buttons that are shown, as on Apple's systems.
    private static let buttonLimit = 4

    func presentation(of notification: WaitingNotification) -> Presentation {
        let installed = apps[notification.app]
        let content = localized(notification.says, app: notification.app)
        let category = installed?.standing.category(content.categoryIdentifier)
        let plan = plan(content, app: notification.app)
        var presentation = Presentation(
            notification: notification.id, app: notification.app,
            appName: installed?.manifest.name ?? notification.app, icon: installed?.manifest.icon,
            identifier: notification.identifier, title: content.title, subtitle: content.subtitle, body: content.body,
            category: content.categoryIdentifier, urgency: urgency(of: content.interruptionLevel))
        if plan?.hidesText == true { Self.hide(&presentation, category) }
        presentation.image = content.attachments.first { Self.isPicture($0) }?.path
        if plan?.hidesText == true { presentation.image = nil }
        presentation.buttons = Self.buttons(content.actions.isEmpty ? category?.actions ?? [] : content.actions)
        if let open = content.openTitle { presentation.openLabel = installed?.strings?.text(open) ?? open.key }
        if plan?.sounds == true { presentation.sound = sound(content.sound, of: installed?.manifest) }
        presentation.stays = installed?.standing.settings.alertStyle == .alert
        presentation.desktopEntry = installed?.manifest.desktopEntry
        return presentation
    }

    private static func isPicture(_ attachment: NotificationAttachment) -> Bool {
        ["public.image", "public.png", "public.jpeg", "com.compuserve.gif"].contains(attachment.type)
            && attachment.hidesThumbnail != true
    }

    private func urgency(of level: NotificationContent.InterruptionLevel) -> Presentation.Urgency {
        switch level {
        case .passive: .low
        case .active, .timeSensitive: .normal
        case .critical: .critical
        }
    }

    /// Where previews are hidden a placeholder stands for the body; the category may let the titles be seen.
    private static func hide(_ presentation: inout Presentation, _ category: NotificationCategory?) {
        let options = category?.options ?? 0
        if options & NotificationCategory.hiddenPreviewsShowTitle == 0 { presentation.title = "" }
        if options & NotificationCategory.hiddenPreviewsShowSubtitle == 0 { presentation.subtitle = "" }
        presentation.body = category?.hiddenPreviewsBodyPlaceholder ?? "Notification"
    }

    private static func buttons(_ actions: [NotificationActionDescription]) -> [Presentation.Button] {
        actions.prefix(buttonLimit).map { action in
            Presentation.Button(
                identifier: action.identifier, label: action.title,
                reply: action.textInput.map {
                    Presentation.Reply(placeholder: $0.placeholder, submitLabel: $0.buttonTitle)
                })
        }
    }

    /// A sound file of the app's, by its name in the resources folder; the desktop's own where there is none.
    private func sound(_ sound: NotificationSound?, of manifest: AppManifest?) -> Presentation.Sound {
        guard let sound else { return .silent }
        guard let name = sound.name, let folder = manifest?.resources, !name.contains("/"), name != ".." else {
            return .standard
        }
        let path = "\(folder)/\(name)"
        return FileManager.default.isReadableFile(atPath: path) ? .file(path) : .standard
    }
}
