import UserNotifications

/// Reminds a person to drink, every hour, until they have had enough.
final class WaterReminder: NSObject, UNUserNotificationCenterDelegate {
    func begin() async throws {
        let center = UNUserNotificationCenter.current()
        center.delegate = self
        guard try await center.requestAuthorization(options: [.alert, .sound]) else { return }
        let enough = UNNotificationAction(identifier: "enough", title: "Enough for today")
        center.setNotificationCategories([
            UNNotificationCategory(identifier: "water", actions: [enough], intentIdentifiers: [])
        ])

        let content = UNMutableNotificationContent()
        content.title = "Time for a glass of water"
        content.sound = .default
        content.categoryIdentifier = "water"
        let hourly = UNTimeIntervalNotificationTrigger(timeInterval: 3600, repeats: true)
        try await center.add(UNNotificationRequest(identifier: "water", content: content, trigger: hourly))
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions {
        [.banner, .list, .sound]
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
    ) async {
        guard response.actionIdentifier == "enough" else { return }
        center.removePendingNotificationRequests(withIdentifiers: ["water"])
    }
}
