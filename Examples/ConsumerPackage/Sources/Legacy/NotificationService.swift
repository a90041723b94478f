import MobileCoreServices
import UserNotifications

/// A service extension that adds the picture which the payload names.
class NotificationService: UNNotificationServiceExtension {
    var contentHandler: ((UNNotificationContent) -> Void)?
    var bestAttemptContent: UNMutableNotificationContent?

    override func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        self.contentHandler = contentHandler
        bestAttemptContent = (request.content.mutableCopy() as? UNMutableNotificationContent)
        guard let bestAttemptContent = bestAttemptContent,
            let text = request.content.userInfo["image"] as? String, let url = URL(string: text)
        else {
            contentHandler(request.content)
            return
        }
        let task = URLSession.shared.downloadTask(with: url) { location, _, _ in
            defer { contentHandler(bestAttemptContent) }
            guard let location = location else { return }
            let target = location.appendingPathExtension("png")
            do {
                try FileManager.default.moveItem(at: location, to: target)
                let options = [UNNotificationAttachmentOptionsTypeHintKey: kUTTypePNG as String]
                let attachment = try UNNotificationAttachment(identifier: "image", url: target, options: options)
                bestAttemptContent.attachments = [attachment]
            } catch UNError.attachmentInvalidURL {
                print("The file is gone")
            } catch {
                print(error)
            }
        }
        task.resume()
    }

    override func serviceExtensionTimeWillExpire() {
        if let contentHandler = contentHandler, let bestAttemptContent = bestAttemptContent {
            contentHandler(bestAttemptContent)
        }
        super.serviceExtensionTimeWillExpire()
    }
}
