// The programs of new apps.
extension AppTemplate {
    /// An app of notifications alone.
    static let appDelegate = """
        import UIKit
        import UserNotifications

        @main
        class AppDelegate: UIResponder, UIApplicationDelegate, UNUserNotificationCenterDelegate {
            func application(
                _ application: UIApplication,
                didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
            ) -> Bool {
                let center = UNUserNotificationCenter.current()
                center.delegate = self
                center.requestAuthorization(options: [.alert, .badge, .sound]) { granted, _ in
                    print("allowed: \\(granted)")
                }
                application.registerForRemoteNotifications()
                return true
            }

            func application(
                _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
            ) {
                print("token: \\(deviceToken.map { String(format: "%02x", $0) }.joined())")
            }

            func application(
                _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: Error
            ) {
                print("no token: \\(error.localizedDescription)")
            }

            // In front, a notification is shown all the same.
            func userNotificationCenter(
                _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
                withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
            ) {
                completionHandler([.banner, .list, .sound])
            }

            func userNotificationCenter(
                _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
                withCompletionHandler completionHandler: @escaping () -> Void
            ) {
                print("opened: \\(response.notification.request.content.title)")
                completionHandler()
            }
        }

        """

    /// The program of a service extension.
    static let notificationService = """
        import AldabaRichPush

        // Shows the pictures, sounds and films that payloads name.
        @main
        final class NotificationService: RichPushService {}

        """

    /// An app with FirebaseMessaging.
    static let firebaseDelegate = """
        import Firebase
        import UIKit
        import UserNotifications

        @main
        class AppDelegate: UIResponder, UIApplicationDelegate, UNUserNotificationCenterDelegate, MessagingDelegate {
            func application(
                _ application: UIApplication,
                didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
            ) -> Bool {
                FirebaseApp.configure()
                UNUserNotificationCenter.current().delegate = self
                Messaging.messaging().delegate = self
                Messaging.messaging().shouldEstablishDirectChannel = true
                UNUserNotificationCenter.current().requestAuthorization(options: [.alert, .badge, .sound]) { granted, _ in
                    print("allowed: \\(granted)")
                }
                application.registerForRemoteNotifications()
                return true
            }

            func messaging(_ messaging: Messaging, didReceiveRegistrationToken fcmToken: String?) {
                print("token: \\(fcmToken ?? "")")
            }

            // A message with `data` alone.
            func messaging(_ messaging: Messaging, didReceive remoteMessage: MessagingRemoteMessage) {
                print("data: \\(remoteMessage.appData)")
            }

            // In front, a notification is shown all the same.
            func userNotificationCenter(
                _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
                withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
            ) {
                completionHandler([.banner, .list, .sound])
            }

            func userNotificationCenter(
                _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
                withCompletionHandler completionHandler: @escaping () -> Void
            ) {
                print("opened: \\(response.notification.request.content.title)")
                completionHandler()
            }
        }

        """

    /// The native part of a cross-platform app.
    var flutterDelegate: String {
        """
        import AldabaFlutterPush
        import Flutter
        import UIKit

        @main
        class AppDelegate: FlutterAppDelegate {
            var deviceInstallationService: DeviceInstallationService?
            var notificationRegistrationService: NotificationRegistrationService?
            var notificationActionService: NotificationActionService?

            override func application(
                _ application: UIApplication,
                didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
            ) -> Bool {
                // FlutterAppDelegate makes this controller before the app has finished launching.
                let controller = window?.rootViewController as! FlutterViewController
                let messenger = controller.binaryMessenger
                deviceInstallationService = DeviceInstallationService(
                    channelPrefix: "\(id)", binaryMessenger: messenger)
                notificationRegistrationService = NotificationRegistrationService(
                    channelPrefix: "\(id)", binaryMessenger: messenger)
                notificationActionService = NotificationActionService(
                    channelPrefix: "\(id)", binaryMessenger: messenger)
                UNUserNotificationCenter.current().requestAuthorization(options: [.alert, .sound, .badge]) { granted, _ in
                    print("allowed: \\(granted)")
                }
                application.registerForRemoteNotifications()
                if let userInfo = launchOptions?[.remoteNotification] as? [AnyHashable: Any] {
                    notificationActionService?.take(userInfo, isLaunch: true)
                }
                GeneratedPluginRegistrant.register(with: self)
                return super.application(application, didFinishLaunchingWithOptions: launchOptions)
            }

            override func application(
                _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
            ) {
                print("token: \\(deviceToken.map { String(format: "%02x", $0) }.joined())")
                deviceInstallationService?.token = deviceToken
                notificationRegistrationService?.refreshRegistration()
            }

            override func application(
                _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: Error
            ) {
                print("no token: \\(error.localizedDescription)")
            }

            // A notification that was opened, or that shows nothing.
            override func application(
                _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
            ) {
                notificationActionService?.take(userInfo)
            }
        }

        """
    }

    /// The list of a cross-platform app's plugins.
    static let pluginRegistrant = """
        import Flutter

        /// Stands for the list of plugins that Flutter's tool writes in Objective-C.
        enum GeneratedPluginRegistrant {
            static func register(with registry: FlutterPluginRegistry) {}
        }

        """

    /// An app service.
    var relayProgram: String {
        """
        import ConnectedDevices
        import Foundation

        /// Answers each message of the person's other devices with the same content.
        struct EchoProvider: AppServiceProvider {
            var appServiceInfo: AppServiceInfo { AppServiceInfo(name: "echo", packageId: "\(id)") }

            func connectionDidOpen(_ info: AppServiceConnectionOpenedInfo) {
                info.connection.requestReceived.subscribe { request in request.sendResponse(request.message) }
            }
        }

        let platform = ConnectedDevicesPlatform.shared
        platform.start()
        guard await platform.accountManager.add(.device) == .success else {
            print("no agent answers")
            exit(1)
        }
        let registration = RemoteSystemAppRegistration.getForAccount()
        registration.appServiceProviders = [EchoProvider()]
        print("published: \\(await registration.publish())")
        while true { try await Task.sleep(for: .seconds(3600)) }

        """
    }
}
