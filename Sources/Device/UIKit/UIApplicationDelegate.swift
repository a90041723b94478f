import AppHost
import Foundation

/// What a background handler made of a notification. Raw values are Apple's.
public enum UIBackgroundFetchResult: UInt, Sendable {
    case newData = 0
    case noData = 1
    case failed = 2
}

/// The life cycle of an app and its remote notifications. All methods are optional, and are called on the main
/// actor.
@MainActor
public protocol UIApplicationDelegate: NSObjectProtocol {
    /// The first call of a launch. The answer is of no consequence.
    func application(
        _ application: UIApplication,
        willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool

    /// The end of a launch; notifications come when it has returned. The answer is of no consequence.
    ///
    /// `launchOptions` holds `.remoteNotification` when a notification's opening started the app.
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool

    func applicationWillEnterForeground(_ application: UIApplication)
    func applicationDidBecomeActive(_ application: UIApplication)
    func applicationWillResignActive(_ application: UIApplication)
    func applicationDidEnterBackground(_ application: UIApplication)

    /// The device token: 32 bytes, which a provider sends to as 64 hex digits. Called again when it changes.
    func application(_ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data)
    func application(_ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error)

    /// A notification for the background (`content-available`). The completion handler must be called within 30
    /// seconds; without that it counts as ``UIBackgroundFetchResult/failed``.
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void)

    /// A notification for the background; the form that is awaited.
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult

    /// A notification for the background; the old form, which counts as ``UIBackgroundFetchResult/noData``.
    func application(_ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any])
}

extension UIApplicationDelegate {
    public func application(
        _ application: UIApplication,
        willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool { true }

    public func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool { true }

    public func applicationWillEnterForeground(_ application: UIApplication) {}
    public func applicationDidBecomeActive(_ application: UIApplication) {}
    public func applicationWillResignActive(_ application: UIApplication) {}
    public func applicationDidEnterBackground(_ application: UIApplication) {}

    public func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {}

    public func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) {}

    // The form with a handler is what is called; each default goes on to the next form. The task begins at once,
    // so that also asynchronous handlers begin in the order of their notifications.
    public func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        Task.immediate {
            completionHandler(await self.application(application, didReceiveRemoteNotification: userInfo))
        }
    }

    public func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult {
        tell(application, userInfo)
        return .noData
    }

    /// Does nothing.
    public func application(_ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]) {
        OptionalCall.noteDefault()
    }

    /// Calls the old form, which has the name of the one that is awaited: outside of `async` code only one fits.
    private func tell(_ application: UIApplication, _ userInfo: [AnyHashable: Any]) {
        self.application(application, didReceiveRemoteNotification: userInfo)
    }
}

extension UIApplicationDelegate where Self: UIResponder {
    /// Runs the app, for `@main`. Does not return.
    public static func main() {
        let delegate = Self()
        UIApplication.shared.begin(with: delegate)
        while true { RunLoop.main.run() }
    }
}
