import UIKit
import UserNotifications

class HarbourAppDelegate: UIResponder, UIApplicationDelegate, UNUserNotificationCenterDelegate {
    private var ferries: [String]

    required init() {
        ferries = []
        super.init()
    }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        UNUserNotificationCenter.current().delegate = self
        UNUserNotificationCenter.current().requestAuthorization(options: [.alert, .sound]) { granted, _ in
            guard granted else { return }
            DispatchQueue.main.async { application.registerForRemoteNotifications() }
        }
        _ = NotificationCenter.default.addObserver(
            forName: Notification.Name("FerryArrived"), object: nil, queue: .main
        ) { notice in
            let name = notice.object as? String
            MainActor.assumeIsolated { self.arrived(name) }
        }
        return true
    }

    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {
        let token = deviceToken.map { String(format: "%02x", $0) }.joined()
        print("token \(token)")
    }

    private func arrived(_ name: String?) {
        if let name { ferries.append(name) }
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        completionHandler([.banner, .sound])
    }
}
