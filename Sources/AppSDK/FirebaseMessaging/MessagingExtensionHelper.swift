import AldabaRichPush
import Foundation
import UserNotifications

/// Attaches the picture that a message names in `fcm_options.image`, in a service extension.
public final class MessagingExtensionHelper: NSObject, Sendable {
    /// Attaches the picture, which the agent fetches by its own rules, and gives the content back; without it where it
    /// does not come.
    @preconcurrency
    public func populateNotificationContent(
        _ content: UNMutableNotificationContent,
        withContentHandler contentHandler: @escaping @Sendable (UNNotificationContent) -> Void
    ) {
        FCMPictureService().didReceive(
            UNNotificationRequest(identifier: "", content: content, trigger: nil), withContentHandler: contentHandler)
    }

    /// Kept for existing code: the agent reports what came and what was opened by itself.
    public func exportDeliveryMetricsToBigQuery(withMessageInfo info: [AnyHashable: Any]) {}
}

/// Fetches what `fcm_options.image` names, and nothing else.
final class FCMPictureService: RichPushService {
    override func media(for request: UNNotificationRequest) -> [PayloadMedia] {
        let options = request.content.userInfo["fcm_options"] as? [AnyHashable: Any]
        guard let url = options?["image"] as? String, !url.isEmpty else { return [] }
        return [PayloadMedia(url: url)]
    }
}
