import AldabaRichPush

/// Says from which shop it is.
final class ShopNotificationService: RichPushService {
    override func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        super.didReceive(request) { content in
            guard let changed = content.mutableCopy() as? UNMutableNotificationContent else {
                return contentHandler(content)
            }
            if let shop = changed.userInfo["shop"] as? String { changed.subtitle = "From \(shop)" }
            contentHandler(changed)
        }
    }

    /// Called where a picture does not come; the text is shown all the same.
    override func mediaFailed(_ media: PayloadMedia, _ failure: MediaFailure) {
        print("No picture from \(media.url): \(failure.code)")
    }
}
