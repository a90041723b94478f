import UIKit
import UserNotifications

/// What a test's app was told, in order.
@MainActor
final class Diary {
    private(set) var lines: [String] = []
    private var waiters: [(line: String, continuation: CheckedContinuation<Void, Never>)] = []

    func note(_ line: String) {
        lines.append(line)
        for waiter in waiters where waiter.line == line { waiter.continuation.resume() }
        waiters.removeAll { $0.line == line }
    }

    func wait(for line: String) async {
        if lines.contains(line) { return }
        await withCheckedContinuation { waiters.append((line, $0)) }
    }
}

/// An app in the style of completion handlers.
final class HandlerStyleApp: UIResponder, UIApplicationDelegate, UNUserNotificationCenterDelegate {
    let diary = Diary()

    func application(
        _ application: UIApplication,
        willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        diary.note("will launch \(application.applicationState)")
        return true
    }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let launched = launchOptions?[.remoteNotification] as? [AnyHashable: Any]
        diary.note("launched \(launched?["aldaba.apns-id"] as? String ?? "plainly")")
        return true
    }

    func applicationWillEnterForeground(_ application: UIApplication) { diary.note("will enter foreground") }
    func applicationDidBecomeActive(_ application: UIApplication) { diary.note("active") }

    func application(_ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data) {
        diary.note("token \(Array(deviceToken))")
    }

    func application(_ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error) {
        diary.note("no token: \(error.localizedDescription)")
    }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        diary.note("background \(userInfo["aldaba.id"] as? Int64 ?? 0) \(userInfo["k"] as? Int ?? 0)")
        completionHandler(.newData)
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        diary.note("present \(notification.aldabaID ?? 0)")
        completionHandler([.banner, .sound])
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        let text = (response as? UNTextInputNotificationResponse)?.userText ?? "-"
        diary.note("respond \(response.actionIdentifier) \(text)")
        completionHandler()
    }
}

/// An app in the style of async methods, which suspend.
final class AsyncStyleApp: UIResponder, UIApplicationDelegate, UNUserNotificationCenterDelegate {
    let diary = Diary()

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult {
        diary.note("background \(userInfo["aldaba.id"] as? Int64 ?? 0) \(userInfo["k"] as? Int ?? 0)")
        await Task.yield()
        return .failed
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions {
        diary.note("present \(notification.aldabaID ?? 0)")
        await Task.yield()
        return .list
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
    ) async {
        await Task.yield()
        diary.note("respond \(response.actionIdentifier)")
    }
}

/// An app that knows of remote notifications only by the oldest method.
final class OldStyleApp: UIResponder, UIApplicationDelegate {
    let diary = Diary()

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let launched = launchOptions?[.remoteNotification] as? [AnyHashable: Any]
        if let launched { diary.note("launched \(launched["aldaba.id"] as? Int64 ?? 0)") }
        return true
    }

    func application(_ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]) {
        diary.note("background \(userInfo["aldaba.id"] as? Int64 ?? 0)")
    }
}

/// A delegate with none of the methods.
final class SilentDelegate: NSObject, UNUserNotificationCenterDelegate {}

/// A delegate whose methods say themselves that they belong to no actor.
final class UnboundDelegate: NSObject, UNUserNotificationCenterDelegate {
    nonisolated func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions { .badge }
}

/// An app that notes how its state changes, and knows nothing of notifications.
final class StateDiaryApp: UIResponder, UIApplicationDelegate {
    let diary = Diary()

    func applicationWillEnterForeground(_ application: UIApplication) { diary.note("will enter foreground") }
    func applicationDidBecomeActive(_ application: UIApplication) { diary.note("active") }
    func applicationWillResignActive(_ application: UIApplication) { diary.note("will resign active") }
    func applicationDidEnterBackground(_ application: UIApplication) { diary.note("background") }
}
