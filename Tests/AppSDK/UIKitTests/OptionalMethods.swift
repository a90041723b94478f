import UIKit
import UserNotifications

/// Delegates that write some of the optional methods, and note their calls in one diary.
@MainActor
final class OptionalMethods {
    let diary = Diary()
    let application: any UIApplicationDelegate
    let center: (any UNUserNotificationCenterDelegate)?

    init(application: Application, center: Center) {
        self.application =
            switch application {
            case .plain: PlainApp(diary)
            case .oldForm: OldFormApp(diary)
            case .remoteHandler: RemoteApp(diary)
            }
        self.center =
            switch center {
            case .none: nil
            case .empty: EmptyDelegate()
            case .presents: PresentingDelegate(diary)
            case .responds: RespondingDelegate(diary)
            case .full: FullDelegate(diary)
            }
    }

    /// What the application's delegate writes: the life cycle alone, or a remote notification handler too.
    enum Application { case plain, oldForm, remoteHandler }
    /// What the notification centre's delegate writes.
    enum Center { case none, empty, presents, responds, full }
}

private final class PlainApp: UIResponder, UIApplicationDelegate {
    private var diary = Diary()

    convenience init(_ diary: Diary) {
        self.init()
        self.diary = diary
    }

    func applicationWillEnterForeground(_ application: UIApplication) { diary.note("will enter foreground") }
    func applicationDidBecomeActive(_ application: UIApplication) { diary.note("active") }
    func applicationWillResignActive(_ application: UIApplication) { diary.note("will resign active") }
    func applicationDidEnterBackground(_ application: UIApplication) { diary.note("background") }
}

private final class RemoteApp: UIResponder, UIApplicationDelegate {
    private var diary = Diary()

    convenience init(_ diary: Diary) {
        self.init()
        self.diary = diary
    }

    func applicationWillEnterForeground(_ application: UIApplication) { diary.note("will enter foreground") }
    func applicationDidBecomeActive(_ application: UIApplication) { diary.note("active") }
    func applicationWillResignActive(_ application: UIApplication) { diary.note("will resign active") }
    func applicationDidEnterBackground(_ application: UIApplication) { diary.note("background") }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        diary.note("remote \(userInfo["aldaba.id"] as? Int64 ?? 0)")
        completionHandler(.newData)
    }
}

private final class OldFormApp: UIResponder, UIApplicationDelegate {
    private var diary = Diary()

    convenience init(_ diary: Diary) {
        self.init()
        self.diary = diary
    }

    func applicationWillEnterForeground(_ application: UIApplication) { diary.note("will enter foreground") }
    func applicationDidBecomeActive(_ application: UIApplication) { diary.note("active") }

    func application(_ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]) {
        diary.note("old \(userInfo["aldaba.id"] as? Int64 ?? 0)")
    }
}

private final class EmptyDelegate: NSObject, UNUserNotificationCenterDelegate {}

private final class PresentingDelegate: NSObject, UNUserNotificationCenterDelegate {
    private let diary: Diary
    init(_ diary: Diary) { self.diary = diary }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions {
        diary.note("present")
        return .banner
    }
}

private final class RespondingDelegate: NSObject, UNUserNotificationCenterDelegate {
    private let diary: Diary
    init(_ diary: Diary) { self.diary = diary }

    func userNotificationCenter(_ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse) async {
        diary.note("respond")
    }
}

private final class FullDelegate: NSObject, UNUserNotificationCenterDelegate {
    private let diary: Diary
    init(_ diary: Diary) { self.diary = diary }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        diary.note("present")
        completionHandler(.banner)
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        diary.note("respond")
        completionHandler()
    }

    func userNotificationCenter(_ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?) {
        diary.note("settings")
    }
}
