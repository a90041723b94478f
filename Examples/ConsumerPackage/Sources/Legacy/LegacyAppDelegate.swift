import UIKit
import UserNotifications

/// An app delegate of the years of Swift 3 to 5.
open class LegacyAppDelegate: UIResponder, UIApplicationDelegate {
    public var window: UIWindow?
    private var task = UIBackgroundTaskInvalid

    open func application(
        _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplicationLaunchOptionsKey: Any]?
    ) -> Bool {
        window = UIWindow(frame: UIScreen.main.bounds)
        window?.rootViewController = UIViewController()
        window?.backgroundColor = .white
        window?.makeKeyAndVisible()
        let center = UNUserNotificationCenter.current()
        center.delegate = self
        center.requestAuthorization(options: [.alert, .sound, .badge]) { (granted, error) in
            guard granted, error == nil else { return }
            center.getNotificationSettings { settings in
                guard settings.authorizationStatus == .authorized, settings.carPlaySetting == .notSupported else {
                    return
                }
                DispatchQueue.main.async { application.registerForRemoteNotifications() }
            }
        }
        application.registerUserNotificationSettings(
            UIUserNotificationSettings(types: [.alert, .badge, .sound], categories: nil))
        if let info = launchOptions?[UIApplicationLaunchOptionsKey.remoteNotification] as? [String: AnyObject] {
            print("Launched by \(info)")
        }
        return true
    }

    open func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {
        print(deviceToken.reduce("") { $0 + String(format: "%02X", $1) })
        print(UIDevice.current.identifierForVendor?.uuidString ?? "no identifier")
    }

    open func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: Error
    ) {
        print(error.localizedDescription)
    }

    open func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        task = application.beginBackgroundTask(withName: "refresh") {
            application.endBackgroundTask(self.task)
            self.task = UIBackgroundTaskInvalid
        }
        completionHandler(userInfo["aps"] == nil ? .noData : .newData)
    }

    open func applicationDidBecomeActive(_ application: UIApplication) {
        application.applicationIconBadgeNumber = 0
    }

    func showState() {
        UNUserNotificationCenter.current().getNotificationSettings { settings in
            guard settings.authorizationStatus == .denied else { return }
            self.openSettings()
        }
    }

    func openSettings() {
        guard let url = URL(string: UIApplication.openSettingsURLString), UIApplication.shared.canOpenURL(url) else {
            return
        }
        UIApplication.shared.open(url, options: [:], completionHandler: nil)
    }

    func remind(in seconds: TimeInterval) {
        let content = UNMutableNotificationContent()
        content.title = "Reminder"
        content.sound = UNNotificationSound.default()
        if seconds > 3600 { content.sound = UNNotificationSound(named: "bell.wav") }
        content.summaryArgument = "You"
        let trigger = UNTimeIntervalNotificationTrigger(timeInterval: seconds, repeats: false)
        let request = UNNotificationRequest(identifier: "reminder", content: content, trigger: trigger)
        UNUserNotificationCenter.current().add(request) { error in
            if let error = error { print((error as NSError).code) }
        }
        UNUserNotificationCenter.current().add(request)
        UNUserNotificationCenter.current().getPendingNotificationRequests { requests in print(requests.count) }
        UNUserNotificationCenter.current().getDeliveredNotifications { notifications in print(notifications.count) }
        UNUserNotificationCenter.current().getNotificationCategories { categories in print(categories.count) }
        UNUserNotificationCenter.current().setBadgeCount(3)
        UNUserNotificationCenter.current().removeAllPendingNotificationRequests()
        UNUserNotificationCenter.current().removeAllDeliveredNotifications()
    }
}

extension LegacyAppDelegate: UNUserNotificationCenterDelegate {
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        completionHandler([.alert, .sound])
    }

    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        defer { completionHandler() }
        switch response.actionIdentifier {
        case UNNotificationDismissActionIdentifier: print("dismissed")
        case UNNotificationDefaultActionIdentifier: print("opened")
        default: print((response as? UNTextInputNotificationResponse)?.userText ?? response.actionIdentifier)
        }
    }

    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?
    ) {
        openSettings()
    }
}
