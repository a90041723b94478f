import AgentWire
import DeviceModel
import Foundation
import PresentationPlanning
import PushModel

/// What is on the screen, and follows what changes about it. ``PresentationComposer`` says how a notification looks.
extension Agent {
    func presentation(of notification: WaitingNotification) -> Presentation {
        PresentationComposer(
            registry: registry, conditions: { self.conditions(of: $0) },
            isAwaited: { $0.app == AppManifest.terminalID && self.terminals.isAwaited($0.identifier) }
        ).presentation(of: notification)
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
        for notification in shown where apps[notification.app]?.record.settings.previews == .whenUnlocked {
            var presentation = presentation(of: notification)
            presentation.sound = .silent
            parts.presenter.update(presentation)
        }
    }

    private static let refreshLimit = 200

    /// Has the still of a movie made for a notification on the screen, and shows it in place and without a sound.
    func addStill(to notification: WaitingNotification) {
        guard let attachment = PresentationComposer.visible(of: notification.says),
            parts.stills.canMake(of: attachment.path),
            !FileManager.default.fileExists(atPath: PresentationComposer.still(of: attachment))
        else { return }
        parts.stills.make(of: attachment.path, at: PresentationComposer.still(of: attachment)) { [weak self] isMade in
            if isMade { self?.enter { $0.showStill(of: notification.id) } }
        }
    }

    private func showStill(of id: NotificationID) {
        do {
            guard let notification = try store.read({ try $0.notification(id) }) else { return }
            var shown = presentation(of: notification)
            // There is none where the text is hidden by now.
            guard shown.still != nil else { return }
            shown.sound = .silent
            parts.presenter.update(shown)
        } catch {
            storeFailed(error)
        }
    }

    /// Plays the sound of a notification that does not come to the screen.
    func play(_ sound: NotificationSound?, of manifest: AppManifest?) {
        parts.presenter.play(PresentationComposer.sound(sound, of: manifest), volume: sound?.volume)
    }
}
