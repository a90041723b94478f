import Foundation
import UserNotifications

// The life-cycle notifications of `NotificationCenter`: each is posted right after the delegate's method of the same
// name, on the main actor, with the application as its object.
extension UIApplication {
    /// The app has launched; `userInfo` holds the launch options.
    public nonisolated static let didFinishLaunchingNotification = Notification.Name(
        "UIApplicationDidFinishLaunchingNotification")
    /// The app is in front.
    public nonisolated static let didBecomeActiveNotification = Notification.Name(
        "UIApplicationDidBecomeActiveNotification")
    /// The app is about to be no longer in front.
    public nonisolated static let willResignActiveNotification = Notification.Name(
        "UIApplicationWillResignActiveNotification")
    /// The app is in the background.
    public nonisolated static let didEnterBackgroundNotification = Notification.Name(
        "UIApplicationDidEnterBackgroundNotification")
    /// The app is moving from the background to the front.
    public nonisolated static let willEnterForegroundNotification = Notification.Name(
        "UIApplicationWillEnterForegroundNotification")
    /// The app is ended by `SIGTERM` or `SIGINT`.
    public nonisolated static let willTerminateNotification = Notification.Name(
        "UIApplicationWillTerminateNotification")

    /// Posts a notification to all observers in the process.
    func post(_ name: Notification.Name, _ userInfo: [AnyHashable: Any]? = nil) {
        NotificationCenter.default.post(name: name, object: self, userInfo: userInfo)
    }
}

// Calls from before there were background tasks, and before there was UserNotifications.
extension UIApplication {
    /// The shortest interval that the system supports, in seconds.
    public nonisolated static let backgroundFetchIntervalMinimum: TimeInterval = 0
    /// Never, in seconds.
    public nonisolated static let backgroundFetchIntervalNever: TimeInterval = .greatestFiniteMagnitude

    /// Does nothing: nothing fetches by itself here.
    @available(*, deprecated, message: "use a background notification (content-available)")
    public func setMinimumBackgroundFetchInterval(_ minimumBackgroundFetchInterval: TimeInterval) {}

    /// Takes back all requests that have not fired yet.
    @available(*, deprecated, message: "use UNUserNotificationCenter.removeAllPendingNotificationRequests()")
    public func cancelAllLocalNotifications() { center.removeAllPendingNotificationRequests() }
}
