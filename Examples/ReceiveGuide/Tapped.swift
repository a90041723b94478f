import Firebase
import UserNotifications

extension AppDelegate {
    // The person tapped a notification, or pressed one of its buttons. The message's data is in its userInfo.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        let userInfo = response.notification.request.content.userInfo
        show("tapped: \(userInfo["item"] ?? "nothing") of message \(userInfo["gcm.message_id"] ?? "")")
        completionHandler()
    }
}
