import AppHost
import Foundation

/// The result of a background handler for a notification. Raw values are Apple's.
public enum UIBackgroundFetchResult: UInt, Sendable {
    /// There was something new.
    case newData = 0
    /// There was nothing new.
    case noData = 1
    /// It could not find out.
    case failed = 2
}

/// The life cycle of an app and its remote notifications. All methods are optional, and are called on the main actor;
/// `Docs/lifecycle.md` describes when.
@preconcurrency @MainActor
public protocol UIApplicationDelegate: NSObjectProtocol {
    /// The window of an app without scenes; nothing is ever shown in it.
    var window: UIWindow? { get set }

    /// The first call of a launch. The answer is of no consequence.
    func application(
        _ application: UIApplication,
        willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool

    /// The end of a launch; notifications come when it has returned. The answer is of no consequence.
    ///
    /// `launchOptions` holds `.remoteNotification` when a remote notification's opening started the app.
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool

    /// The oldest form of the launch. Called where no other one is written.
    func applicationDidFinishLaunching(_ application: UIApplication)

    /// Moving from the background to the front.
    func applicationWillEnterForeground(_ application: UIApplication)
    /// The app is in front.
    func applicationDidBecomeActive(_ application: UIApplication)
    /// The app is about to be no longer in front.
    func applicationWillResignActive(_ application: UIApplication)
    /// The app is in the background.
    func applicationDidEnterBackground(_ application: UIApplication)
    /// The app is ended by `SIGTERM`, or by Ctrl-C (`SIGINT`); it ends when this returns.
    func applicationWillTerminate(_ application: UIApplication)
    /// Never called: Linux gives no such warning.
    func applicationDidReceiveMemoryWarning(_ application: UIApplication)
    /// Never called: apps get no such change here.
    func applicationSignificantTimeChange(_ application: UIApplication)

    /// The device token: 32 bytes, which a provider sends to as 64 hex digits. Called again when it changes.
    func application(_ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data)
    /// There is no device token, and why.
    func application(_ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error)

    /// Receives the result of ``UIApplication/registerUserNotificationSettings(_:)``.
    @available(*, deprecated, message: "use UNUserNotificationCenter")
    func application(
        _ application: UIApplication, didRegister notificationSettings: UIUserNotificationSettings)

    /// A notification for the background (`content-available`). Also one that the person opened, or that came while the
    /// app was in front, where no other receiver takes it. The completion handler must be called within 30 seconds;
    /// otherwise it counts as ``UIBackgroundFetchResult/failed``.
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void)

    /// A notification for the background; the form that is awaited.
    @MainActor func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult

    /// A notification that comes while the app is in front; the old form, which counts as
    /// ``UIBackgroundFetchResult/noData``. It is called where neither of the other forms is written, and never for what
    /// comes in the background or is opened.
    func application(_ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any])

    /// Never called: nothing fetches by itself here.
    func application(
        _ application: UIApplication,
        performFetchWithCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void)

    /// Never called: a background session of `URLSession` does not outlive its app on Linux.
    func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void)

    /// Never called: no URL is passed to an app here.
    func application(
        _ application: UIApplication, open url: URL, options: [UIApplication.OpenURLOptionsKey: Any]
    ) -> Bool

    /// Never called: no command of an icon is passed to an app here.
    func application(
        _ application: UIApplication, performActionFor shortcutItem: UIApplicationShortcutItem,
        completionHandler: @escaping (Bool) -> Void)

    /// Never called: no activity is passed to an app here.
    func application(
        _ application: UIApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void
    ) -> Bool

    /// Never called: there are no scenes.
    func application(
        _ application: UIApplication, configurationForConnecting connectingSceneSession: UISceneSession,
        options: UIScene.ConnectionOptions
    ) -> UISceneConfiguration

    /// Never called: there are no scenes.
    func application(_ application: UIApplication, didDiscardSceneSessions sceneSessions: Set<UISceneSession>)
}
