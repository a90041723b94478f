import MobileCoreServices
import UserNotifications

/// Attaches a PNG picture from a file whose name does not tell what it is.
func pictureAttachment(file: URL) throws -> UNNotificationAttachment {
    try UNNotificationAttachment(
        identifier: "picture", url: file,
        options: [UNNotificationAttachmentOptionsTypeHintKey: kUTTypePNG as String])
}
