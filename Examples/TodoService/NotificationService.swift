import UserNotifications

/// Adds the picture that the payload names as Braze does: `{"ab": {"att": {"url": "https://…", "type": "jpg"}}}`.
class NotificationService: UNNotificationServiceExtension {

    var contentHandler: ((UNNotificationContent) -> Void)?
    var bestAttemptContent: UNMutableNotificationContent?

    override func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        self.contentHandler = contentHandler
        bestAttemptContent = (request.content.mutableCopy() as? UNMutableNotificationContent)

        guard let braze = request.content.userInfo["ab"] as? [String: Any],
            let attachment = braze["att"] as? [String: Any],
            let text = attachment["url"] as? String, let url = URL(string: text),
            let type = attachment["type"] as? String
        else {
            contentHandler(request.content)
            return
        }
        let task = URLSession.shared.downloadTask(with: url) { location, _, error in
            self.finish(location, type: type, error: error)
        }
        task.resume()
    }

    private func finish(_ location: URL?, type: String, error: Error?) {
        guard let contentHandler = contentHandler, let bestAttemptContent = bestAttemptContent else { return }
        defer { contentHandler(bestAttemptContent) }
        guard let location = location else {
            print("The picture cannot be fetched: \(error?.localizedDescription ?? "no reason given")")
            return
        }
        do {
            let file = location.appendingPathExtension(type)
            try FileManager.default.moveItem(at: location, to: file)
            let attachment = try UNNotificationAttachment(identifier: "picture", url: file, options: nil)
            bestAttemptContent.attachments = [attachment]
        } catch {
            print("The picture cannot be attached: \(error)")
        }
    }

    override func serviceExtensionTimeWillExpire() {
        // Called just before the extension will be terminated by the system.
        // Use this as an opportunity to deliver your "best attempt" at modified content, otherwise the original push payload will be used.
        if let contentHandler = contentHandler, let bestAttemptContent = bestAttemptContent {
            contentHandler(bestAttemptContent)
        }
    }

}
