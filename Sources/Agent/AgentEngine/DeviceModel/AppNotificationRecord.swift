import AgentProtocol
import Scheduling

/// The stored notification state of an app: authorization, settings, categories and the badge.
package struct AppNotificationRecord: Codable, Hashable, Sendable {
    /// The person's answer, if there is one; a policy of the manifest overrides it.
    package var authorization = Authorization.notDetermined
    /// The options that the app asked for (`UNAuthorizationOptions`, raw value).
    package var options: UInt = 0
    /// The person's settings; unchanged ones have their default values.
    package var settings = AppSettings()
    /// The app's categories, the newest last; at most ``categoryLimit``.
    package var categories: [NotificationCategory] = []
    /// The identifiers of those categories that the app's extension set last; `nil` for none.
    package var extensionCategories: [String]?
    /// The number on the app's icon, from 0; 0 shows none.
    package var badge = 0

    /// Creates the record of an app that has not asked for authorization, with default settings.
    package init() {}

    /// `UNAuthorizationStatus`, with its raw values.
    package enum Authorization: Int, Codable, Sendable, CaseIterable {
        /// The person has not been asked yet.
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

    /// The effective authorization: a manifest's policy overrides the person's answer.
    package func authorization(under policy: AppManifest.Authorization) -> Authorization {
        switch policy {
        case .granted: .authorized
        case .denied: .denied
        case .ask: authorization
        }
    }

    /// The options among badge, sound and alert that the app may use: those that it asked for. Under a policy, and
    /// where a person allowed an app that had not asked, all of them.
    package func asked(under policy: AppManifest.Authorization) -> UInt {
        let all = AuthorizationOption.badge | AuthorizationOption.sound | AuthorizationOption.alert
        return policy == .ask && options & all != 0 ? options & all : all
    }

    /// The most categories that an app has; beyond it those of the extension go first, the oldest before the others.
    package static let categoryLimit = 256

    /// Adds categories, and replaces those of the same identifier; an empty list removes all. Of several with one
    /// identifier the last counts.
    ///
    /// An app and its extension set them one after the other, and neither removes the other's.
    ///
    /// - Returns: The identifiers of those that were removed since there are more than ``categoryLimit``.
    @discardableResult
    package mutating func merge(_ new: [NotificationCategory], byExtension: Bool = false) -> [String] {
        var identifiers = Set(new.map(\.identifier))
        var theirs = Set(extensionCategories ?? []).subtracting(identifiers)
        if byExtension { theirs.formUnion(identifiers) }
        var all = new.isEmpty ? [] : categories.filter { !identifiers.contains($0.identifier) }
        all += new.reversed().filter { identifiers.remove($0.identifier) != nil }.reversed()
        var removed: [String] = []
        while all.count > Self.categoryLimit {
            removed.append(all.remove(at: all.firstIndex { theirs.contains($0.identifier) } ?? 0).identifier)
        }
        let kept = all.map(\.identifier).filter(theirs.contains)
        (categories, extensionCategories) = (all, kept.isEmpty ? nil : kept)
        return removed
    }

    /// The category of this identifier: the app's, else the one of Braze's; `nil` where there is none, and for an empty
    /// identifier.
    package func category(_ identifier: String) -> NotificationCategory? {
        guard !identifier.isEmpty else { return nil }
        return categories.first { $0.identifier == identifier }
            ?? NotificationCategory.ofBraze.first { $0.identifier == identifier }
    }

    /// The result of the app's `notificationSettings()`.
    package func settings(under policy: AppManifest.Authorization) -> NotificationSettings {
        let authorization = authorization(under: policy)
        let isQuiet = authorization == .provisional
        let asked = asked(under: policy)
        func setting(_ isOn: Bool) -> Int { authorization.allows && isOn ? 2 : 1 }
        // An option that the app did not ask for is not supported, as with Apple.
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

/// The settings that a person can change for an app.
package struct AppSettings: Codable, Hashable, Sendable {
    /// Whether notifications appear on the screen.
    package var alerts = true
    /// Whether notifications play sounds.
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
    /// The treatment of a notification whose time is noticed late, since the machine slept or was off.
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
        /// The notification does not come to the screen.
        case none
        /// The notification disappears by itself.
        case banner
        /// The notification stays until the person answers it.
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
        /// On no screen: a placeholder replaces the text.
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
