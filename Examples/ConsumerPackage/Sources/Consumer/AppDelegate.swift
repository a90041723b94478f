import CoreLocation
import UIKit
import UserNotifications

@main
class AppDelegate: UIResponder, UIApplicationDelegate {
    var window: UIWindow?
    private let notifications = NotificationHandler()
    private let office = CLCircularRegion(
        center: CLLocationCoordinate2D(latitude: 52.52, longitude: 13.405), radius: 200, identifier: "office")

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        window = UIWindow(frame: UIScreen.main.bounds)
        window?.rootViewController = UIViewController()
        window?.makeKeyAndVisible()
        office.notifyOnExit = false

        let center = UNUserNotificationCenter.current()
        center.delegate = notifications
        center.requestAuthorization(options: [.alert, .badge, .sound]) { granted, error in
            if let error = error {
                print("Authorization failed: \(error.localizedDescription)")
                return
            }
            guard granted else { return }
            DispatchQueue.main.async {
                UIApplication.shared.registerForRemoteNotifications()
            }
        }
        Task {
            do { try await Reminders().prepare() } catch { print("No reminders: \(error.localizedDescription)") }
        }
        if let payload = launchOptions?[.remoteNotification] as? [AnyHashable: Any] {
            print("Launched by \(payload)")
        }
        return true
    }

    func application(
        _ application: UIApplication,
        didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {
        print("Device token: \(deviceToken.map { String(format: "%02.2hhx", $0) }.joined())")
    }

    func application(
        _ application: UIApplication,
        didFailToRegisterForRemoteNotificationsWithError error: Error
    ) {
        print("Registration failed: \(error)")
    }

    func application(
        _ application: UIApplication,
        didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        guard let aps = userInfo["aps"] as? [String: AnyObject], aps["content-available"] as? Int == 1 else {
            completionHandler(.failed)
            return
        }
        guard let text = userInfo["refresh"] as? String, let url = URL(string: text) else {
            completionHandler(.noData)
            return
        }
        let handler = Completion(call: completionHandler)
        URLSession.shared.dataTask(with: url) { data, _, error in
            handler.call(error == nil && data != nil ? .newData : .failed)
        }.resume()
    }

    func applicationDidBecomeActive(_ application: UIApplication) {
        print("Active: \(application.applicationState == .active)")
    }
}

/// `@unchecked Sendable`: the handler is UIKit's, which may be called on any thread, once.
private struct Completion: @unchecked Sendable {
    let call: (UIBackgroundFetchResult) -> Void
}
