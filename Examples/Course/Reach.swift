import UserNotifications

/// How far a notification of this app comes, by the person's settings; an app asks before each that matters.
public enum Reach: Hashable, Sendable {
    /// Nobody was asked yet: now is the time to.
    case notAsked
    /// Nowhere: the person does not want any.
    case nowhere
    /// Into the list alone.
    case list
    /// To the screen, with its sound or without.
    case screen(sound: Bool)

    /// Reads the settings.
    public init(_ settings: UNNotificationSettings) {
        self.init(settings.authorizationStatus, alert: settings.alertSetting, sound: settings.soundSetting)
    }

    /// Reads the three settings that count.
    public init(_ status: UNAuthorizationStatus, alert: UNNotificationSetting, sound: UNNotificationSetting) {
        switch status {
        case .notDetermined: self = .notAsked
        case .denied: self = .nowhere
        // Provisional notifications come quietly, until the person has chosen.
        case .provisional: self = .list
        default: self = alert == .enabled ? .screen(sound: sound == .enabled) : .list
        }
    }
}
