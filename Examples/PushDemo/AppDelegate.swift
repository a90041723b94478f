// The native half of a cross-platform app, as such apps have it for iOS: three services on channels, and a delegate that
// feeds them. The other half connects to the socket ALDABA_FLUTTER_SOCKET; `host.py` in this folder shows how.
import AldabaFlutterPush
import Flutter

@main
final class AppDelegate: FlutterAppDelegate {
    private static let prefix = "com.example.pushdemo"

    private var installation: DeviceInstallationService?
    private var registration: NotificationRegistrationService?
    private var actions: NotificationActionService?

    override func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        guard let controller = window?.rootViewController as? FlutterViewController else { return false }
        let messenger = controller.binaryMessenger
        installation = DeviceInstallationService(channelPrefix: Self.prefix, binaryMessenger: messenger)
        registration = NotificationRegistrationService(channelPrefix: Self.prefix, binaryMessenger: messenger)
        actions = NotificationActionService(channelPrefix: Self.prefix, binaryMessenger: messenger)
        UNUserNotificationCenter.current().delegate = self
        UNUserNotificationCenter.current().requestAuthorization(options: [.alert, .sound, .badge]) { _, _ in
            DispatchQueue.main.async { application.registerForRemoteNotifications() }
        }
        if let userInfo = launchOptions?[.remoteNotification] as? [AnyHashable: Any] {
            actions?.take(userInfo, isLaunch: true)
        }
        return super.application(application, didFinishLaunchingWithOptions: launchOptions)
    }

    override func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {
        installation?.token = deviceToken
        // The other half knows which token it registered, and does nothing where it is the same. What was kept here would forget a
        // new one that the other half was not there for.
        registration?.refreshRegistration()
    }

    /// A notification without anything to see: its action is triggered at once.
    override func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) {
        actions?.take(userInfo)
    }

    override func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        actions?.take(notification)
        completionHandler([.banner, .list])
    }

    override func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        actions?.take(response.notification)
        completionHandler()
    }
}
