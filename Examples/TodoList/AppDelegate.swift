// A to-do list that a provider can add to: what an app of the kind that uses notifications looks like.
//
// Environment: TODOLIST_FILE keeps the items (else they live in memory); TODOLIST_APP_LOG gets the apns-id of every
// notification that the app is handed, one a line.
import UIKit
import UserNotifications

@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    private let list = TodoStore(path: ProcessInfo.processInfo.environment["TODOLIST_FILE"])
    private let log = HandoverLog(path: ProcessInfo.processInfo.environment["TODOLIST_APP_LOG"])

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let center = UNUserNotificationCenter.current()
        center.delegate = self
        center.requestAuthorization(options: [.alert, .sound, .badge]) { granted, error in
            Terminal.say("authorization: \(error.map { "failed, \($0.localizedDescription)" } ?? "\(granted)")")
        }
        application.registerForRemoteNotifications()
        return true
    }

    func application(_ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data) {
        Terminal.say("token: \(deviceToken.map { String(format: "%02x", $0) }.joined())")
    }

    func application(_ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error) {
        Terminal.say("no token: \(error.localizedDescription)")
    }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        let name = userInfo["aldaba.apns-id"] as? String ?? "?"
        Terminal.say("background \(name)")
        log.handedInBackground(name)
        let added = list.add(from: userInfo, fallback: nil, name: name)
        completionHandler(added ? .newData : .noData)
    }
}

extension AppDelegate: UNUserNotificationCenterDelegate {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions {
        Terminal.say("willPresent \(notification.name)")
        log.handedInForeground(notification.name)
        add(from: notification)
        await remind(of: notification)
        return [.banner, .list, .sound]
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
    ) async {
        let name = response.notification.name
        Terminal.say("didReceive \(response.actionIdentifier) \(name)")
        log.answered(name)
        add(from: response.notification)
    }

    /// A provider can ask for a reminder, too: `remindIn` seconds later, whether this app runs then or not.
    private func remind(of notification: UNNotification) async {
        guard let seconds = notification.request.content.userInfo["remindIn"] as? Double, seconds > 0 else { return }
        let content = UNMutableNotificationContent()
        content.title = "Still to do: \(notification.request.content.title)"
        let trigger = UNTimeIntervalNotificationTrigger(timeInterval: seconds, repeats: false)
        let request = UNNotificationRequest(
            identifier: "reminder \(notification.name)", content: content, trigger: trigger)
        do {
            try await UNUserNotificationCenter.current().add(request)
            Terminal.say("reminder at \(trigger.nextTriggerDate().map(String.init(describing:)) ?? "no time")")
        } catch {
            Terminal.say("no reminder: \(error.localizedDescription)")
        }
    }

    private func add(from notification: UNNotification) {
        let content = notification.request.content
        let text = [content.title, content.body].filter { !$0.isEmpty }.joined(separator: ": ")
        list.add(from: content.userInfo, fallback: text.isEmpty ? nil : text, name: notification.name)
    }
}

extension UNNotification {
    /// What the provider knows the notification by.
    fileprivate var name: String { aldabaAPNsID ?? request.identifier }
}
