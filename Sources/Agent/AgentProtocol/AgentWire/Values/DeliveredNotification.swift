/// A notification that the agent delivers to an app.
public struct DeliveredNotification: Codable, Hashable, Sendable {
    /// The internal id, unique within the device; `handled` names it. Positive for a remote notification, negative
    /// for a local one.
    public var id: Int64
    /// The request's identifier: the collapse id, else the `apns-id`.
    public var identifier: String
    /// The `apns-id`, where the notification has one.
    public var apnsID: String?
    /// The app's topic.
    public var topic: BundleID
    /// When it was accepted, in milliseconds since 1970-01-01 UTC.
    public var date: Int64
    /// The payload's JSON text, verbatim; `{}` for a local notification.
    public var payload: String
    /// The content where the payload does not contain all of it: a local notification's content, or texts of the app's
    /// string tables. `nil` where ``NotificationContent/init(payload:)`` gives the content.
    public var content: NotificationContent?
    /// The trigger that made a local notification fire; `nil` where the request had none, and for a remote one.
    public var trigger: NotificationTrigger?

    /// Makes what one `deliver` or `respond` carries; it checks nothing.
    public init(
        id: Int64, identifier: String, apnsID: String?, topic: BundleID, date: Int64, payload: String,
        content: NotificationContent? = nil, trigger: NotificationTrigger? = nil
    ) {
        self.id = id
        self.identifier = identifier
        self.apnsID = apnsID
        self.topic = topic
        self.date = date
        self.payload = payload
        self.content = content
        self.trigger = trigger
    }

    /// Whether it came from a provider.
    public var isRemote: Bool { id > 0 }

    /// Whether the app reports an incoming call with it.
    public var isIncomingCall: Bool { content?.isIncomingCall == true }
}

/// The two actions that every notification has; other identifiers are the app's own.
public enum NotificationAction {
    /// The person opened the notification itself. Apple's `UNNotificationDefaultActionIdentifier`.
    public static let open = "com.apple.UNNotificationDefaultActionIdentifier"
    /// The person dismissed the notification. Apple's `UNNotificationDismissActionIdentifier`.
    public static let dismiss = "com.apple.UNNotificationDismissActionIdentifier"
}

/// The handler of an app that receives a notification.
public enum DeliveryKind: String, Codable, Sendable, CaseIterable {
    /// The app is in front: it is asked how to present the notification.
    case foreground
    /// The background handler only (`content-available`).
    case background
    /// The background handler first, then the question how to present it; one answer at the end.
    case foregroundAndBackground
    /// PushKit's handler only: an incoming call.
    case call
}

/// The result of an app's background handler for a notification.
public enum BackgroundResult: String, Codable, Sendable, CaseIterable {
    /// The handler fetched something new.
    case newData
    /// There was nothing new.
    case noData
    /// The handler could not fetch, or did not answer in time.
    case failed
}

/// The outcome of a delivered notification in the app.
public enum HandledOutcome: Hashable, Sendable {
    /// The app wants it shown, with these `UNNotificationPresentationOptions` (raw value).
    case presented(options: UInt)
    /// The app does not want it shown: no delegate, no such method, an empty answer, or none in time.
    case notPresented
    /// The background handler's answer; ``BackgroundResult/failed`` also when it did not answer in time.
    case background(BackgroundResult)
}

/// The state of an app in its life cycle.
public enum AppState: String, Codable, Sendable, CaseIterable {
    /// In front of the person, and taking events.
    case active
    /// In front or becoming so, and not taking events.
    case inactive
    /// Running without being in front.
    case background
}

/// The notification rights that the agent grants to an app, in the raw values of Apple's `UNNotificationSettings`.
public struct NotificationSettings: Codable, Hashable, Sendable {
    /// `UNAuthorizationStatus`: 0 not determined, 1 denied, 2 authorized, 3 provisional, 4 ephemeral.
    public var authorizationStatus: Int
    /// Whether notifications appear on the screen (`UNNotificationSetting`): 0 not supported, 1 disabled, 2 enabled.
    public var alertSetting: Int
    /// Whether sounds are played: 0 not supported, 1 disabled, 2 enabled.
    public var soundSetting: Int
    /// Whether the icon's number is set: 0 not supported, 1 disabled, 2 enabled.
    public var badgeSetting: Int
    /// Whether notifications are kept in the list: 0 not supported, 1 disabled, 2 enabled.
    public var notificationCenterSetting: Int
    /// Whether critical alerts pass muted sounds and quiet hours: 0 not supported, 1 disabled, 2 enabled.
    public var criticalAlertSetting: Int
    /// Whether what is time-sensitive passes the quiet hours: 0 not supported, 1 disabled, 2 enabled.
    public var timeSensitiveSetting: Int
    /// `UNAlertStyle`: 0 none, 1 banner, 2 alert.
    public var alertStyle: Int
    /// `UNShowPreviewsSetting`: 0 always, 1 when authenticated, 2 never.
    public var showPreviewsSetting: Int
    /// Whether notifications may be read while the screen is locked (`UNNotificationSetting`).
    public var lockScreenSetting: Int
    /// Whether the app declared that it has settings of its own.
    public var providesAppNotificationSettings: Bool

    /// Makes settings of raw values; the defaults are those of members that a message leaves out.
    public init(
        authorizationStatus: Int, alertSetting: Int, soundSetting: Int, badgeSetting: Int,
        notificationCenterSetting: Int, criticalAlertSetting: Int = 0, timeSensitiveSetting: Int = 0,
        alertStyle: Int, showPreviewsSetting: Int = 0, lockScreenSetting: Int = 0,
        providesAppNotificationSettings: Bool = false
    ) {
        self.authorizationStatus = authorizationStatus
        self.alertSetting = alertSetting
        self.soundSetting = soundSetting
        self.badgeSetting = badgeSetting
        self.notificationCenterSetting = notificationCenterSetting
        self.criticalAlertSetting = criticalAlertSetting
        self.timeSensitiveSetting = timeSensitiveSetting
        self.alertStyle = alertStyle
        self.showPreviewsSetting = showPreviewsSetting
        self.lockScreenSetting = lockScreenSetting
        self.providesAppNotificationSettings = providesAppNotificationSettings
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func setting(_ key: CodingKeys) throws -> Int { try members.decode(Int.self, forKey: key) }
        self.init(
            authorizationStatus: try setting(.authorizationStatus), alertSetting: try setting(.alertSetting),
            soundSetting: try setting(.soundSetting), badgeSetting: try setting(.badgeSetting),
            notificationCenterSetting: try setting(.notificationCenterSetting),
            criticalAlertSetting: try members.member(.criticalAlertSetting, else: 0),
            timeSensitiveSetting: try members.member(.timeSensitiveSetting, else: 0),
            alertStyle: try setting(.alertStyle),
            showPreviewsSetting: try members.member(.showPreviewsSetting, else: 0),
            lockScreenSetting: try members.member(.lockScreenSetting, else: 0),
            providesAppNotificationSettings: try members.member(.providesAppNotificationSettings, else: false))
    }
}
