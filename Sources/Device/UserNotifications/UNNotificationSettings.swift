import AgentWire
import Foundation

/// What this app may do. Immutable; read it again to learn of changes.
public final class UNNotificationSettings: NSObject, NSCopying, Sendable {
    public let authorizationStatus: UNAuthorizationStatus
    public let alertSetting: UNNotificationSetting
    public let soundSetting: UNNotificationSetting
    public let badgeSetting: UNNotificationSetting
    public let notificationCenterSetting: UNNotificationSetting
    public let criticalAlertSetting: UNNotificationSetting
    public let timeSensitiveSetting: UNNotificationSetting
    public let alertStyle: UNAlertStyle
    public let showPreviewsSetting: UNShowPreviewsSetting

    /// Of the agent's values; one that this version does not know counts as the least that is allowed.
    init(_ settings: NotificationSettings) {
        func setting(_ value: Int) -> UNNotificationSetting { UNNotificationSetting(rawValue: value) ?? .notSupported }
        authorizationStatus = UNAuthorizationStatus(rawValue: settings.authorizationStatus) ?? .notDetermined
        alertSetting = setting(settings.alertSetting)
        soundSetting = setting(settings.soundSetting)
        badgeSetting = setting(settings.badgeSetting)
        notificationCenterSetting = setting(settings.notificationCenterSetting)
        criticalAlertSetting = setting(settings.criticalAlertSetting)
        timeSensitiveSetting = setting(settings.timeSensitiveSetting)
        alertStyle = UNAlertStyle(rawValue: settings.alertStyle) ?? .none
        showPreviewsSetting = UNShowPreviewsSetting(rawValue: settings.showPreviewsSetting) ?? .never
    }

    /// The settings of an app that no agent knows.
    static var undetermined: UNNotificationSettings {
        UNNotificationSettings(
            NotificationSettings(
                authorizationStatus: 0, alertSetting: 0, soundSetting: 0, badgeSetting: 0,
                notificationCenterSetting: 0, alertStyle: 0, showPreviewsSetting: 2))
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }
}
