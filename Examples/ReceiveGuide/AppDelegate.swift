import Firebase
import UIKit
import UserNotifications

class AppDelegate: UIResponder, UIApplicationDelegate {
    /// What this app does with what comes.
    var show: (String) -> Void = { print($0) }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        FirebaseApp.configure()
        // Both delegates, so that nobody need call appDidReceiveMessage(_:).
        UNUserNotificationCenter.current().delegate = self
        Messaging.messaging().delegate = self
        // Data messages come while this app is in front.
        Messaging.messaging().shouldEstablishDirectChannel = true
        UNUserNotificationCenter.current().requestAuthorization(options: [.alert, .badge, .sound]) { _, _ in }
        application.registerForRemoteNotifications()
        return true
    }
}
