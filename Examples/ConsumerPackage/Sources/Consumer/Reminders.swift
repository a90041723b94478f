import CoreLocation
import UserNotifications

/// Asks for notifications, in the style of `async`.
struct Reminders {
    private let center = UNUserNotificationCenter.current()

    func prepare() async throws {
        let done = UNNotificationAction(
            identifier: "DONE", title: "Done", options: [.authenticationRequired],
            icon: UNNotificationActionIcon(systemImageName: "checkmark.circle"))
        let delete = UNNotificationAction(identifier: "DELETE", title: "Delete", options: [.destructive, .foreground])
        let reply = UNTextInputNotificationAction(
            identifier: "REPLY", title: "Reply", options: [], textInputButtonTitle: "Send",
            textInputPlaceholder: "Message")
        center.setNotificationCategories([
            UNNotificationCategory(
                identifier: "REMINDER", actions: [done, delete], intentIdentifiers: [],
                hiddenPreviewsBodyPlaceholder: "Reminder", categorySummaryFormat: "%u more reminders",
                options: [.customDismissAction, .hiddenPreviewsShowTitle]),
            UNNotificationCategory(
                identifier: "MESSAGE", actions: [reply], intentIdentifiers: [],
                hiddenPreviewsBodyPlaceholder: "Message",
                options: .allowInCarPlay),
            UNNotificationCategory(identifier: "PLAIN", actions: [], intentIdentifiers: [], options: []),
        ])
        let known = await center.notificationCategories()
        print("Categories: \(known.map(\.identifier).sorted())")
        guard try await center.requestAuthorization(options: [.alert, .sound, .badge, .provisional]) else { return }
        let settings = await center.notificationSettings()
        switch settings.authorizationStatus {
        case .authorized, .provisional, .ephemeral: try await schedule()
        case .denied, .notDetermined: print("Not allowed")
        @unknown default: break
        }
    }

    private func schedule() async throws {
        let content = UNMutableNotificationContent()
        content.title = NSString.localizedUserNotificationString(forKey: "REMINDER_TITLE", arguments: ["milk"])
        content.body = "Two liters"
        content.sound = .default
        content.badge = 1
        content.userInfo = ["id": 7, "at": Date()]
        content.categoryIdentifier = "REMINDER"
        content.threadIdentifier = "shopping"
        content.interruptionLevel = .timeSensitive
        content.relevanceScore = 0.8

        var morning = DateComponents()
        morning.hour = 9
        let office = CLCircularRegion(
            center: CLLocationCoordinate2D(latitude: 52.52, longitude: 13.405), radius: 200, identifier: "office")
        office.notifyOnExit = false
        let triggers: [UNNotificationTrigger?] = [
            UNTimeIntervalNotificationTrigger(timeInterval: 5 * 60, repeats: false),
            UNCalendarNotificationTrigger(dateMatching: morning, repeats: true),
            UNLocationNotificationTrigger(region: office, repeats: false),
            nil,
        ]
        for trigger in triggers {
            let request = UNNotificationRequest(identifier: UUID().uuidString, content: content, trigger: trigger)
            do {
                try await center.add(request)
            } catch UNError.notificationsNotAllowed {
                print("Not allowed any more")
            } catch let error as UNError where error.code == .notificationInvalidNoDate {
                print("No date: \(error.localizedDescription)")
            }
        }
        let pending = await center.pendingNotificationRequests()
        for case let trigger as UNCalendarNotificationTrigger in pending.map(\.trigger) {
            print("Next: \(trigger.nextTriggerDate().map(String.init(describing:)) ?? "never")")
        }
        center.removePendingNotificationRequests(withIdentifiers: pending.map(\.identifier))
        let old = await center.deliveredNotifications().filter { $0.date < Date(timeIntervalSinceNow: -86_400) }
        center.removeDeliveredNotifications(withIdentifiers: old.map { $0.request.identifier })
        try await center.setBadgeCount(0)
    }
}
