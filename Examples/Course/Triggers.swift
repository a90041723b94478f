import CoreLocation
import UserNotifications

/// The three triggers.
public enum Triggers {
    /// Once, so many seconds from now; from a minute on it may come again and again.
    public static func after(seconds: TimeInterval, repeats: Bool = false) -> UNTimeIntervalNotificationTrigger {
        UNTimeIntervalNotificationTrigger(timeInterval: seconds, repeats: repeats && seconds >= 60)
    }

    /// When clocks show that time; every day, or the next time alone.
    public static func at(_ time: TimeOfDay, everyDay: Bool = false) -> UNCalendarNotificationTrigger {
        UNCalendarNotificationTrigger(
            dateMatching: DateComponents(hour: time.hour, minute: time.minute), repeats: everyDay)
    }

    /// When the machine comes to a place.
    public static func arriving(latitude: Double, longitude: Double, metres: Double) -> UNLocationNotificationTrigger {
        let region = CLCircularRegion(
            center: CLLocationCoordinate2D(latitude: latitude, longitude: longitude), radius: metres,
            identifier: "\(latitude),\(longitude)")
        region.notifyOnEntry = true
        region.notifyOnExit = false
        return UNLocationNotificationTrigger(region: region, repeats: false)
    }
}

/// An hour and a minute, as a person writes them: `18:30`, `7:05`.
public struct TimeOfDay: Hashable, Sendable, CustomStringConvertible {
    /// 0 to 23.
    public let hour: Int
    /// 0 to 59.
    public let minute: Int

    /// Reads what a person wrote; `nil` for what no clock shows.
    public init?(_ text: String) {
        let parts = text.trimmingCharacters(in: .whitespacesAndNewlines).split(
            separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...2).contains(parts[0].count), parts[1].count == 2,
            parts.joined().allSatisfy({ $0.isASCII && $0.isNumber }), let hour = Int(parts[0]),
            let minute = Int(parts[1]),
            hour < 24, minute < 60
        else { return nil }
        self.hour = hour
        self.minute = minute
    }

    /// `07:05`.
    public var description: String { String(format: "%02d:%02d", hour, minute) }
}
