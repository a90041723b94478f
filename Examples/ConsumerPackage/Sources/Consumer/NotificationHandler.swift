import UserNotifications

final class NotificationHandler: NSObject, UNUserNotificationCenterDelegate {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        let content = notification.request.content
        guard notification.request.trigger is UNPushNotificationTrigger, content.interruptionLevel != .passive else {
            completionHandler([.list])
            return
        }
        completionHandler([.banner, .list, .sound])
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        didReceive response: UNNotificationResponse
    ) async {
        switch response.actionIdentifier {
        case UNNotificationDefaultActionIdentifier:
            print("Opened \(response.notification.request.identifier)")
        case UNNotificationDismissActionIdentifier:
            print("Dismissed")
        default:
            if let reply = response as? UNTextInputNotificationResponse {
                print("Replied: \(reply.userText)")
            }
        }
        let settings = await center.notificationSettings()
        if settings.authorizationStatus == .authorized, settings.badgeSetting == .enabled {
            print("Badge: \(response.notification.request.content.badge?.intValue ?? 0)")
        }
    }

    func decorated(_ request: UNNotificationRequest) -> UNNotificationRequest {
        guard let content = request.content.mutableCopy() as? UNMutableNotificationContent else { return request }
        content.title = "[\(content.threadIdentifier)] \(content.title)"
        content.sound = UNNotificationSound(named: UNNotificationSoundName("ding.wav"))
        return UNNotificationRequest(identifier: request.identifier, content: content, trigger: nil)
    }
}
