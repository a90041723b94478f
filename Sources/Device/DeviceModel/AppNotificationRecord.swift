import AgentWire
import LocalSchedule

/// What a person and an app have settled between them: authorization, settings, categories and the badge.
package struct AppNotificationRecord: Codable, Hashable, Sendable {
    /// What the person answered, or nobody yet; a policy stands above it.
    package var authorization = Authorization.notDetermined
    /// What the app asked for (`UNAuthorizationOptions`, raw value).
    package var options: UInt = 0
    /// What the person changed, and the plain values of the rest.
    package var settings = AppSettings()
    /// The app's categories, the newest last; at most ``categoryLimit``.
    package var categories: [NotificationCategory] = []
    /// The number on the app's icon, from 0; 0 shows none.
    package var badge = 0

    /// That of an app which has asked for nothing, with the settings that every app begins with.
    package init() {}

    /// `UNAuthorizationStatus`, with its raw values.
    package enum Authorization: Int, Codable, Sendable, CaseIterable {
        /// Nobody has been asked.
        case notDetermined = 0
        /// The person does not let the app notify.
        case denied = 1
        /// The person lets the app notify.
        case authorized = 2
        /// The app notifies quietly, in the list alone, until a person decides.
        case provisional = 3

        /// Whether notifications are accepted at all.
        package var allows: Bool { self == .authorized || self == .provisional }
    }

    /// The authorization that counts: a manifest's policy stands above what anybody answered.
    package func authorization(under policy: AppManifest.Authorization) -> Authorization {
        switch policy {
        case .granted: .authorized
        case .denied: .denied
        case .ask: authorization
        }
    }

    /// Which of badge, sound and alert the app may use: what it asked for; under a policy, and where a person allowed an
    /// app that had not asked, all of them.
    package func asked(under policy: AppManifest.Authorization) -> UInt {
        let all = AuthorizationOption.badge | AuthorizationOption.sound | AuthorizationOption.alert
        return policy == .ask && options & all != 0 ? options & all : all
    }

    /// The most categories that an app has; those that were set longest ago go first.
    package static let categoryLimit = 256

    /// Takes categories in addition to those there are, in place of those of the same name; none at all take all away.
    ///
    /// An app and its extension set them one after the other, and neither takes the other's away.
    package mutating func merge(_ new: [NotificationCategory]) {
        let names = Set(new.map(\.identifier))
        let kept = new.isEmpty ? [] : categories.filter { !names.contains($0.identifier) }
        categories = Array((kept + new).suffix(Self.categoryLimit))
    }

    /// The category of this identifier; `nil` where the app has set none, and for an empty one.
    package func category(_ identifier: String) -> NotificationCategory? {
        identifier.isEmpty ? nil : categories.first { $0.identifier == identifier }
    }

    /// What the app reads with `notificationSettings()`.
    package func settings(under policy: AppManifest.Authorization) -> NotificationSettings {
        let authorization = authorization(under: policy)
        let isQuiet = authorization == .provisional
        let asked = asked(under: policy)
        func setting(_ isOn: Bool) -> Int { authorization.allows && isOn ? 2 : 1 }
        // What the app did not ask for is not supported, as with Apple.
        func setting(_ isOn: Bool, _ option: UInt) -> Int { asked & option == 0 ? 0 : setting(isOn) }
        return NotificationSettings(
            authorizationStatus: authorization.rawValue,
            alertSetting: setting(settings.alerts && !isQuiet, AuthorizationOption.alert),
            soundSetting: setting(settings.sounds && !isQuiet, AuthorizationOption.sound),
            badgeSetting: setting(settings.badges && !isQuiet, AuthorizationOption.badge),
            notificationCenterSetting: setting(settings.list), criticalAlertSetting: setting(settings.criticalAlerts),
            timeSensitiveSetting: setting(settings.timeSensitive),
            alertStyle: asked & AuthorizationOption.alert != 0 && authorization.allows && settings.alerts && !isQuiet
                ? settings.alertStyle.number : 0,
            showPreviewsSetting: settings.previews.number, lockScreenSetting: setting(settings.lockScreen),
            providesAppNotificationSettings: options & AuthorizationOption.providesAppNotificationSettings != 0)
    }
}

/// What a person can change for one app.
package struct AppSettings: Codable, Hashable, Sendable {
    /// Whether notifications appear on the screen.
    package var alerts = true
    /// Whether notifications are heard.
    package var sounds = true
    /// Whether the number on the app's icon is shown.
    package var badges = true
    /// Whether they are kept in the list.
    package var list = true
    /// Whether they appear while the screen is locked.
    package var lockScreen = true
    /// Whether what is time-sensitive passes the quiet hours.
    package var timeSensitive = true
    /// Whether what is critical sounds although sounds are off.
    package var criticalAlerts = false
    /// How long a notification stays on the screen.
    package var alertStyle = AlertStyle.banner
    /// When its text can be read there.
    package var previews = Previews.always
    /// What becomes of a notification whose time is noticed late, since the machine slept or was off.
    package var missed = Missed.deliver
    /// How late it may come, in hours.
    package var missedHours = 24
    /// The hours that a person may choose: from one to a year.
    static let missedHourRange = 1...8_760

    /// Whether a notification that comes late is shown, or never.
    package enum Missed: String, Codable, Sendable, CaseIterable { case deliver, drop }

    /// The two settings for what comes late, as the schedule takes them.
    package var missedPolicy: MissedPolicy {
        missed == .drop ? .drop : .deliver(within: Int64(missedHours) * 3_600_000)
    }

    /// How long a notification stays; Apple's `UNAlertStyle`.
    package enum AlertStyle: String, Codable, Sendable, CaseIterable {
        /// It does not come to the screen.
        case none
        /// Goes by itself.
        case banner
        /// Stays until somebody answers it.
        case alert

        /// `UNAlertStyle`'s raw value.
        var number: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// When the text can be read on the screen; Apple's `UNShowPreviewsSetting`.
    package enum Previews: String, Codable, Sendable, CaseIterable {
        /// Also on a locked screen.
        case always
        /// On a screen that is not locked.
        case whenUnlocked
        /// On no screen: a placeholder stands in its place.
        case never

        /// `UNShowPreviewsSetting`'s raw value.
        var number: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// The settings that every app begins with.
    package init() {}

    private enum Key: String, CodingKey {
        case alerts, sounds, badges, list, lockScreen, timeSensitive, criticalAlerts, alertStyle, previews, missed,
            missedHours
    }

    /// Members of a later version that are absent have their plain value.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        func member<Value: Decodable>(_ key: Key, _ value: Value) throws -> Value {
            try members.decodeIfPresent(Value.self, forKey: key) ?? value
        }
        self.init()
        alerts = try member(.alerts, alerts)
        sounds = try member(.sounds, sounds)
        badges = try member(.badges, badges)
        list = try member(.list, list)
        lockScreen = try member(.lockScreen, lockScreen)
        timeSensitive = try member(.timeSensitive, timeSensitive)
        criticalAlerts = try member(.criticalAlerts, criticalAlerts)
        alertStyle = try member(.alertStyle, alertStyle)
        previews = try member(.previews, previews)
        missed = try member(.missed, missed)
        let hours = try member(.missedHours, missedHours)
        if Self.missedHourRange.contains(hours) { missedHours = hours }
    }
}
