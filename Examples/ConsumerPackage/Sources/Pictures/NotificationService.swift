import AldabaRichPush
import UserNotifications

/// Shows the payload's picture, and says in the text that there is one.
@main
final class NotificationService: RichPushService {
    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        super.didReceive(request) { content in
            guard !content.attachments.isEmpty, let changed = content.mutableCopy() as? UNMutableNotificationContent
            else { return contentHandler(content) }
            changed.subtitle = "With a picture"
            contentHandler(changed)
        }
    }
}
