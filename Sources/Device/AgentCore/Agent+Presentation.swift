import AgentWire
import Attachments
import DeviceModel
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
            category: content.categoryIdentifier,
            urgency: urgency(of: content.interruptionLevel, mayBeCritical: plan?.isCritical == true))
        if plan?.hidesText == true { Self.hide(&presentation, category) }
        if plan?.hidesText != true { addPicture(of: content, to: &presentation) }
        presentation.buttons = Self.buttons(content.actions.isEmpty ? category?.actions ?? [] : content.actions)
        if let open = content.openTitle { presentation.openLabel = installed?.strings?.text(open) ?? open.key }
        if plan?.sounds == true, notification.shows.contains(.sound) {
            presentation.volume = content.sound?.volume
            presentation.sound = sound(content.sound, of: installed?.manifest)
        }
        // A question that somebody waits for stays until it is answered.
        let isAwaited = notification.app == AppManifest.terminalID && terminals.isAwaited(notification.identifier)
        presentation.stays = isAwaited || installed?.standing.settings.alertStyle == .alert
        presentation.desktopEntry = installed?.manifest.desktopEntry
        return presentation
    }

    // MARK: Previews

    /// The screen was locked or unlocked. Updates the notifications on it, and those that may come to it, of apps whose text
    /// is shown on an unlocked screen only.
    func refreshPreviews() {
        let shown: [WaitingNotification]
        do {
            shown = try store.read { try $0.visible(limit: Self.refreshLimit) }
        } catch {
            storeFailed(error)
            // Text must not stay readable because of that: it is tried again.
            return enter(after: timing.storePause) { $0.refreshPreviews() }
        }
        for notification in shown where apps[notification.app]?.standing.settings.previews == .whenUnlocked {
            var presentation = presentation(of: notification)
            presentation.sound = .silent
            parts.presenter.update(presentation)
        }
    }

    private static let refreshLimit = 200

    // MARK: Pictures

    /// The first attachment that can be seen: a picture, or a movie of which there is a still.
    private func addPicture(of content: NotificationContent, to presentation: inout Presentation) {
        guard let attachment = Self.visible(of: content) else { return }
        if Self.isPicture(attachment) { presentation.image = attachment.path }
        let still = Self.still(of: attachment)
        if FileManager.default.fileExists(atPath: still) { presentation.still = still }
    }

    private static func visible(of content: NotificationContent) -> NotificationAttachment? {
        content.attachments.first {
            $0.hidesThumbnail != true && (isPicture($0) || ThumbnailerProgram.type(of: $0.path) != nil)
        }
    }

    private static func isPicture(_ attachment: NotificationAttachment) -> Bool {
        ["public.image", "public.png", "public.jpeg", "com.compuserve.gif"].contains(attachment.type)
    }

    /// The path of a movie's still: beside the file, and deleted with it.
    private static func still(of attachment: NotificationAttachment) -> String {
        attachment.path + AttachmentStore.stillEnding
    }

    /// Has the still of a movie made for a notification on the screen, and shows it in place and without a sound.
    func addStill(to notification: WaitingNotification) {
        guard let attachment = Self.visible(of: notification.says), parts.stills.canMake(of: attachment.path),
            !FileManager.default.fileExists(atPath: Self.still(of: attachment))
        else { return }
        parts.stills.make(of: attachment.path, at: Self.still(of: attachment)) { [weak self] isMade in
            if isMade { self?.enter { $0.showStill(of: notification.id) } }
        }
    }

    private func showStill(of id: NotificationID) {
        do {
            guard let found = try store.read({ try $0.notification(id) }) else { return }
            var shown = presentation(of: found)
            // There is none where the text is hidden by now.
            guard shown.still != nil else { return }
            shown.sound = .silent
            parts.presenter.update(shown)
        } catch {
            storeFailed(error)
        }
    }

    private func urgency(
        of level: NotificationContent.InterruptionLevel, mayBeCritical: Bool
    ) -> Presentation.Urgency {
        switch level {
        case .passive: .low
        case .active, .timeSensitive: .normal
        case .critical: mayBeCritical ? .critical : .normal
        }
    }

    /// Puts a placeholder in place of the body. Title and subtitle are hidden too, unless the category shows them.
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

    /// Plays the sound of a notification that does not come to the screen.
    func play(_ sound: NotificationSound?, of manifest: AppManifest?) {
        parts.presenter.play(self.sound(sound, of: manifest), volume: sound?.volume)
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
