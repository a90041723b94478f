import AgentProtocol
import Foundation

/// The notification settings of this app. Immutable; read them again to learn of changes.
///
/// Sendable is unchecked because the class is open; it has a constant only.
open class UNNotificationSettings: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    private let wire: NotificationSettings

    /// Converts the agent's values; one that this version does not know counts as the least that is allowed.
    init(_ settings: NotificationSettings) { wire = settings }

    /// Reads an archive of this module; `nil` for another one. Of a hand-written coder it reads what Apple's class
    /// does: each setting's number by `decodeInt64(forKey:)`, and `providesAppNotificationSettings` by
    /// `decodeBool(forKey:)`.
    public required init?(coder: NSCoder) {
        if let wire = WireCoding.decode(NotificationSettings.self, with: coder) {
            self.wire = wire
        } else if WireCoding.isHandWritten(coder) {
            func number(_ key: String) -> Int { Int(coder.decodeInt64(forKey: key)) }
            wire = NotificationSettings(
                authorizationStatus: number("authorizationStatus"), alertSetting: number("alertSetting"),
                soundSetting: number("soundSetting"), badgeSetting: number("badgeSetting"),
                notificationCenterSetting: number("notificationCenterSetting"),
                criticalAlertSetting: number("criticalAlertSetting"),
                timeSensitiveSetting: number("timeSensitiveSetting"), alertStyle: number("alertStyle"),
                showPreviewsSetting: number("showPreviewsSetting"), lockScreenSetting: number("lockScreenSetting"),
                providesAppNotificationSettings: coder.decodeBool(forKey: "providesAppNotificationSettings"))
        } else {
            return nil
        }
    }

    /// Archives it.
    open func encode(with coder: NSCoder) { WireCoding.encode(wire, with: coder) }

    /// Always true.
    public class var supportsSecureCoding: Bool { true }

    /// Whether the app may notify at all.
    open var authorizationStatus: UNAuthorizationStatus {
        UNAuthorizationStatus(rawValue: wire.authorizationStatus) ?? .notDetermined
    }
    /// On the screen.
    open var alertSetting: UNNotificationSetting { setting(wire.alertSetting) }
    /// Sounds.
    open var soundSetting: UNNotificationSetting { setting(wire.soundSetting) }
    /// The number on the icon.
    open var badgeSetting: UNNotificationSetting { setting(wire.badgeSetting) }
    /// In the list.
    open var notificationCenterSetting: UNNotificationSetting { setting(wire.notificationCenterSetting) }
    /// While the screen is locked.
    open var lockScreenSetting: UNNotificationSetting { setting(wire.lockScreenSetting) }
    /// Always `notSupported`: there is no car.
    open var carPlaySetting: UNNotificationSetting { .notSupported }
    /// In every case.
    open var criticalAlertSetting: UNNotificationSetting { setting(wire.criticalAlertSetting) }
    /// Always `notSupported`: notifications are not read aloud.
    open var announcementSetting: UNNotificationSetting { .notSupported }
    /// Also while other notifications are held back.
    open var timeSensitiveSetting: UNNotificationSetting { setting(wire.timeSensitiveSetting) }
    /// Always `notSupported`: there is no scheduled summary.
    open var scheduledDeliverySetting: UNNotificationSetting { .notSupported }
    /// Always `notSupported`: direct messages are marked by an intent, and there are no intents.
    open var directMessagesSetting: UNNotificationSetting { .notSupported }
    /// How its alerts appear.
    open var alertStyle: UNAlertStyle { UNAlertStyle(rawValue: wire.alertStyle) ?? .none }
    /// When its text is shown.
    open var showPreviewsSetting: UNShowPreviewsSetting {
        UNShowPreviewsSetting(rawValue: wire.showPreviewsSetting) ?? .never
    }
    /// Whether the app declared settings of its own.
    open var providesAppNotificationSettings: Bool { wire.providesAppNotificationSettings }

    private func setting(_ value: Int) -> UNNotificationSetting {
        UNNotificationSetting(rawValue: value) ?? .notSupported
    }

    /// The settings of an app that no agent knows.
    static var undetermined: UNNotificationSettings {
        UNNotificationSettings(
            NotificationSettings(
                authorizationStatus: 0, alertSetting: 0, soundSetting: 0, badgeSetting: 0,
                notificationCenterSetting: 0, alertStyle: 0, showPreviewsSetting: 2))
    }

    /// Itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }
    /// Whether all settings are equal.
    open override func isEqual(_ object: Any?) -> Bool { (object as? UNNotificationSettings)?.wire == wire }
    /// The same for equal settings.
    open override var hash: Int { wire.hashValue }
    /// The object's class, address and values.
    open override var description: String {
        describing([
            "authorizationStatus": authorizationStatus, "alertSetting": alertSetting, "soundSetting": soundSetting,
            "badgeSetting": badgeSetting, "notificationCenterSetting": notificationCenterSetting,
            "lockScreenSetting": lockScreenSetting, "criticalAlertSetting": criticalAlertSetting,
            "timeSensitiveSetting": timeSensitiveSetting, "alertStyle": alertStyle,
            "showPreviewsSetting": showPreviewsSetting,
            "providesAppNotificationSettings": providesAppNotificationSettings,
        ])
    }
}
