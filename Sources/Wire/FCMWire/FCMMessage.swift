import PushModel

/// A message of FCM's HTTP v1 API: what this server can act on, of fields that were all checked.
package struct FCMMessage: Hashable, Sendable {
    /// Whom it is for.
    package var target: FCMTarget
    /// The data; `nil` where there is none. Values are strings.
    package var data: [String: String]?
    /// What every platform shows.
    package var notification: FCMNotification?
    /// What the provider says for Android.
    package var android: FCMAndroid?
    /// What the provider says for Apple's platforms.
    package var apns: FCMApple?
    /// What the provider says for browsers.
    package var webpush: FCMWebPush?
    /// The label by which reports tell messages apart.
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

/// What every platform shows.
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

/// What a message says for Android.
package struct FCMAndroid: Hashable, Sendable {
    /// Later messages with the same key replace this one while it waits.
    package var collapseKey: String?
    /// Whether the priority is high; `nil` where nothing is said.
    package var isUrgent: Bool?
    /// How long it may wait, in whole seconds.
    package var timeToLive: Int?
    /// The only app that may have it.
    package var package: String?
    /// The data for Android.
    package var data: [String: String]?
    /// What Android shows.
    package var notification: FCMAndroidNotification?
    /// The label for Android.
    package var label: String?

    /// Makes an empty one.
    package init() {}
}

/// What Android shows, where this server can act on it.
package struct FCMAndroidNotification: Hashable, Sendable {
    /// What every platform shows, as it is on Android.
    package var shown = FCMNotification()
    /// The sound's name.
    package var sound: String?
    /// What a tap opens; the category.
    package var clickAction: String?
    /// The key of the title in the app's own language, and what goes into it.
    package var titleKey: String?
    /// What goes into the title.
    package var titleArguments: [String]?
    /// The key of the text in the app's own language.
    package var bodyKey: String?
    /// What goes into the text.
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

/// What a message says for Apple's platforms.
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

/// What a message says for browsers.
package struct FCMWebPush: Hashable, Sendable {
    /// `TTL`: how long it may wait, in seconds; at most 28 days. 0 is one attempt.
    package var timeToLive: Int64?
    /// `Urgency`, as the priority that it comes to.
    package var priority: Priority?
    /// `Topic`: later messages with the same one replace this one while it waits.
    package var topic: String?
    /// The data for browsers, in place of the message's.
    package var data: [String: String]?
    /// What the browser shows: members of the Web Notification's options, laid over the message's notification.
    package var notification: [JSONValue.Member]?
    /// Where a tap leads to.
    package var link: String?
    /// The label for browsers.
    package var label: String?

    /// Makes an empty one.
    package init() {}
}
