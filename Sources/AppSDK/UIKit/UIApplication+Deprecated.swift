import Foundation
import UserNotifications

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
