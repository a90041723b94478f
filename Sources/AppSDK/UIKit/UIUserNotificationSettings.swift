import Foundation
import UserNotifications

/// The ways in which notifications may appear, before iOS 10. Raw values are Apple's.
@available(*, deprecated, message: "use UNAuthorizationOptions")
public struct UIUserNotificationType: OptionSet, Sendable {
    /// Apple's number.
    public let rawValue: UInt
    /// Apple's number.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The empty set has no name, as in Apple's headers.
    @available(*, unavailable, message: "use [] to construct an empty option set")
    public static var none: UIUserNotificationType { [] }
    /// Put a number on the icon.
    public static let badge = UIUserNotificationType(rawValue: 1 << 0)
    /// Play a sound.
    public static let sound = UIUserNotificationType(rawValue: 1 << 1)
    /// Be shown.
    public static let alert = UIUserNotificationType(rawValue: 1 << 2)
}

/// Buttons of notifications before iOS 10. Present, and without effect.
@available(*, deprecated, message: "use UNNotificationCategory")
open class UIUserNotificationCategory: NSObject {}

/// The notification settings of an app, before iOS 10.
@available(*, deprecated, message: "use UNNotificationSettings")
public final class UIUserNotificationSettings: NSObject, Sendable {
    /// The ways in which notifications may appear.
    public let types: UIUserNotificationType
    /// Always `nil`.
    public var categories: Set<UIUserNotificationCategory>? { nil }

    /// Creates the settings that an app wants; categories are ignored.
    public init(types: UIUserNotificationType, categories: Set<UIUserNotificationCategory>?) { self.types = types }
}

extension UIApplication {
    /// Asks the person to allow notifications; the delegate receives the outcome.
    @available(*, deprecated, message: "use UNUserNotificationCenter.requestAuthorization(options:)")
    public func registerUserNotificationSettings(_ notificationSettings: UIUserNotificationSettings) {
        let options = UNAuthorizationOptions(rawValue: notificationSettings.types.rawValue)
        center.requestAuthorization(options: options) { granted, _ in
            DispatchQueue.main.async {
                MainActor.assumeIsolated {
                    let settings =
                        granted ? notificationSettings : UIUserNotificationSettings(types: [], categories: nil)
                    self.delegate?.application(self, didRegister: settings)
                }
            }
        }
    }
}
