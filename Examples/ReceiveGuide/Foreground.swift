import Firebase
import UserNotifications

extension AppDelegate: UNUserNotificationCenterDelegate {
    // A message with `notification` while the app is in front: the app says how it is shown.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        show("in front: \(notification.request.content.title)")
        completionHandler([.banner, .sound])
    }
}
