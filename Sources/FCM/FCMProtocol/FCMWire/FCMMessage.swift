import PushCore

/// A message of FCM's HTTP v1 API: what this server can act on, of fields that were all checked.
package struct FCMMessage: Hashable, Sendable {
    /// The target of the message.
    package var target: FCMTarget
    /// The data; `nil` where there is none. Values are strings.
    package var data: [String: String]?
    /// The notification for all platforms.
    package var notification: FCMNotification?
    /// The options for Android.
    package var android: FCMAndroid?
    /// The options for Apple's platforms.
    package var apns: FCMApple?
    /// The options for browsers.
    package var webpush: FCMWebPush?
    /// The label by which reports distinguish messages.
    package var label: String?

    /// Makes a message of checked parts.
    package init(
        target: FCMTarget, data: [String: String]? = nil, notification: FCMNotification? = nil,
        android: FCMAndroid? = nil, apns: FCMApple? = nil, webpush: FCMWebPush? = nil, label: String? = nil
    ) {
        self.target = target
        self.data = data
        self.notification = notification
        self.android = android
        self.apns = apns
        self.webpush = webpush
        self.label = label
    }
}

/// The notification of a message for all platforms.
package struct FCMNotification: Hashable, Sendable {
    /// The title.
    package var title: String?
    /// The text.
    package var body: String?
    /// The address of a picture.
    package var image: String?

    /// Makes a notification.
    package init(title: String? = nil, body: String? = nil, image: String? = nil) {
        self.title = title
        self.body = body
        self.image = image
    }
}

/// The options of a message for Android.
package struct FCMAndroid: Hashable, Sendable {
    /// Later messages with the same key replace this one while it waits.
    package var collapseKey: String?
    /// Whether the priority is high; `nil` where the message sets none.
    package var isUrgent: Bool?
    /// How long it may wait, in whole seconds.
    package var timeToLive: Int?
    /// The only app that may have it.
    package var package: String?
    /// The data for Android.
    package var data: [String: String]?
    /// The notification for Android.
    package var notification: FCMAndroidNotification?
    /// The label for Android.
    package var label: String?

    /// Makes an empty one.
    package init() {}
}

/// The notification of a message for Android, as far as this server supports it.
package struct FCMAndroidNotification: Hashable, Sendable {
    /// The fields that all platforms share, with their values for Android.
    package var shown = FCMNotification()
    /// The sound's name.
    package var sound: String?
    /// The action of a tap, which becomes the category.
    package var clickAction: String?
    /// The key of the title in the app's own language, and what goes into it.
    package var titleKey: String?
    /// The arguments of the localized title.
    package var titleArguments: [String]?
    /// The key of the text in the app's own language.
    package var bodyKey: String?
    /// The arguments of the localized text.
    package var bodyArguments: [String]?
    /// The number on the app's icon.
    package var count: Int?
    /// A later notification with the same one takes this one's place on the screen.
    package var tag: String?
    /// How much it may interrupt, by the name that APNs has for it; `nil` for what is usual.
    package var interruptionLevel: String?

    /// Makes an empty one.
    package init() {}
}

/// The options of a message for Apple's platforms.
package struct FCMApple: Hashable, Sendable {
    /// `apns-expiration`: seconds since 1970; 0 is one attempt.
    package var expiration: Int64?
    /// `apns-priority`: 1, 5 or 10.
    package var priority: UInt8?
    /// `apns-collapse-id`.
    package var collapseID: String?
    /// `apns-push-type`.
    package var pushType: String?
    /// `apns-id`.
    package var id: String?
    /// The members of the payload.
    package var payload: [JSONValue.Member]?
    /// The address of a picture.
    package var image: String?
    /// The label for Apple's platforms.
    package var label: String?
    /// Whether a token of a Live Activity is named: there is nothing for the app itself.
    package var isForLiveActivity = false

    /// Makes an empty one.
    package init() {}
}

/// The options of a message for browsers.
package struct FCMWebPush: Hashable, Sendable {
    /// `TTL`: how long it may wait, in seconds; at most 28 days. 0 is one attempt.
    package var timeToLive: Int64?
    /// `Urgency`, as the priority that it comes to.
    package var priority: Priority?
    /// `Topic`: later messages with the same one replace this one while it waits.
    package var topic: String?
    /// The data for browsers, in place of the message's.
    package var data: [String: String]?
    /// The Web Notification's options, which override the message's notification.
    package var notification: [JSONValue.Member]?
    /// The address that a tap opens.
    package var link: String?
    /// The label for browsers.
    package var label: String?

    /// Makes an empty one.
    package init() {}
}
