import Foundation
import PushCore

/// The body of `messages:send`.
package struct FCMRequest: Hashable, Sendable {
    /// Whether the message is checked only, and not sent.
    package var isDryRun: Bool
    /// The message.
    package var message: FCMMessage

    /// Reads a body.
    ///
    /// - Throws: the first thing that is wrong, with its place.
    package init(body: [UInt8]) throws(FCMRejection) {
        let value: JSONValue
        do { value = try JSONValue(object: body) } catch {
            throw FCMRejection(.invalidArgument, "the body is not a JSON object: \(error)")
        }
        var fields = try FieldReader(value, at: "")
        isDryRun = try fields.boolean("validate_only") ?? false
        guard let message = try fields.object("message") else { throw .invalid("message", "is missing") }
        try fields.end()
        self.message = try FCMMessage(message)
    }
}

extension FCMMessage {
    /// Reads a message's fields.
    init(_ fields: FieldReader) throws(FCMRejection) {
        var fields = fields
        // What only answers carry.
        _ = try fields.string("name")
        self.init(target: try FCMTarget(&fields))
        data = try Self.data(&fields)
        if let notification = try fields.object("notification") {
            self.notification = try FCMNotification(notification)
        }
        if let android = try fields.object("android") { self.android = try FCMAndroid(android) }
        if let apns = try fields.object("apns") { self.apns = try FCMApple(apns) }
        if let webpush = try fields.object("webpush") { self.webpush = try FCMWebPush(webpush) }
        label = try Self.options(&fields).label
        try fields.end()
    }

    /// The field `data`.
    static func data(_ fields: inout FieldReader) throws(FCMRejection) -> [String: String]? {
        guard let data = try fields.map("data") else { return nil }
        for key in data.keys.sorted() {
            let isReserved =
                ["from", "message_type", "collapse_key", "aps", "fcm_options"].contains(key)
                || key.hasPrefix("google") || key.hasPrefix("gcm")
            if isReserved || key.isEmpty {
                throw .invalid(
                    "\(fields.place("data"))[\(key.prefix(64))]",
                    "the key is reserved: from, message_type, collapse_key, aps, fcm_options, and what begins with "
                        + "google or gcm, is FCM's own")
            }
        }
        return data.isEmpty ? nil : data
    }

    /// The field `fcm_options`; the link and the image only where the platform has them.
    static func options(
        _ fields: inout FieldReader, hasImage: Bool = false, hasLink: Bool = false
    ) throws(FCMRejection) -> (label: String?, image: String?, link: String?) {
        guard var options = try fields.object("fcm_options") else { return (nil, nil, nil) }
        func present(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
        let label = try options.label("analytics_label")
        let image = hasImage ? present(try options.string("image")) : nil
        let link = hasLink ? present(try options.string("link")) : nil
        if let link, !link.hasPrefix("https://") {
            throw .invalid(options.place("link"), "must begin with https://")
        }
        try options.end()
        return (label, image, link)
    }
}

extension FCMNotification {
    /// Reads the notification of every platform.
    init(_ fields: FieldReader) throws(FCMRejection) {
        var fields = fields
        try self.init(taking: &fields)
        try fields.end()
    }

    /// Takes the fields that every notification has. Empty ones are absent, as protobuf has it.
    init(taking fields: inout FieldReader) throws(FCMRejection) {
        func present(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
        title = present(try fields.string("title"))
        body = present(try fields.string("body"))
        image = present(try fields.string("image"))
    }
}

extension FCMAndroid {
    /// The longest that a message may wait: 28 days, in seconds.
    static let longestTimeToLive = 2_419_200

    /// Reads the fields for Android.
    init(_ fields: FieldReader) throws(FCMRejection) {
        var fields = fields
        self.init()
        collapseKey = try fields.string("collapse_key").flatMap { $0.isEmpty ? nil : $0 }
        if let collapseKey, collapseKey.utf8.count > 64 {
            throw .invalid(fields.place("collapse_key"), "has \(collapseKey.utf8.count) bytes, at most 64 are allowed")
        }
        isUrgent = try fields.word("priority", of: ["NORMAL", "HIGH"]).map { $0 == "HIGH" }
        timeToLive = try fields.seconds("ttl")
        if let timeToLive, timeToLive > Self.longestTimeToLive {
            throw .invalid(fields.place("ttl"), "must be 0 to \(Self.longestTimeToLive) seconds, 28 days")
        }
        package = try fields.string("restricted_package_name").flatMap { $0.isEmpty ? nil : $0 }
        data = try FCMMessage.data(&fields)
        for name in ["direct_boot_ok", "bandwidth_constrained_ok", "restricted_satellite_ok"] {
            _ = try fields.boolean(name)
        }
        label = try FCMMessage.options(&fields).label
        if let notification = try fields.object("notification") {
            self.notification = try FCMAndroidNotification(notification)
        }
        try fields.end()
    }
}

extension FCMAndroidNotification {
    /// Reads what Android shows.
    init(_ fields: FieldReader) throws(FCMRejection) {
        var fields = fields
        self.init()
        shown = try FCMNotification(taking: &fields)
        func present(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
        sound = present(try fields.string("sound"))
        clickAction = present(try fields.string("click_action"))
        titleKey = present(try fields.string("title_loc_key"))
        titleArguments = try fields.strings("title_loc_args")
        bodyKey = present(try fields.string("body_loc_key"))
        bodyArguments = try fields.strings("body_loc_args")
        count = try fields.integer("notification_count")
        tag = present(try fields.string("tag"))
        let priorities = ["UNSPECIFIED", "MIN", "LOW", "DEFAULT", "HIGH", "MAX"].map { "PRIORITY_" + $0 }
        switch try fields.word("notification_priority", of: priorities) {
        case "PRIORITY_MIN", "PRIORITY_LOW": interruptionLevel = "passive"
        case "PRIORITY_MAX": interruptionLevel = "time-sensitive"
        default: break
        }
        if try fields.boolean("default_sound") == true, sound == nil { sound = "default" }
        try Self.validateAndroidOnlyFields(&fields)
        try fields.end()
    }

    /// Checks the fields that only Android's own notifications use.
    private static func validateAndroidOnlyFields(_ fields: inout FieldReader) throws(FCMRejection) {
        for name in ["icon", "channel_id", "ticker", "event_time"] { _ = try fields.string(name) }
        for name in [
            "sticky", "local_only", "default_vibrate_timings", "default_light_settings", "bypass_proxy_notification",
        ] {
            _ = try fields.boolean(name)
        }
        if let color = try fields.string("color"), !color.isEmpty {
            let digits = color.utf8.dropFirst()
            let isColor =
                color.hasPrefix("#") && digits.count == 6
                && digits.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
            guard isColor else { throw .invalid(fields.place("color"), "must be #rrggbb") }
        }
        _ = try fields.word("visibility", of: ["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"])
        _ = try fields.word("proxy", of: ["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"])
        _ = try fields.strings("vibrate_timings")
        if var light = try fields.object("light_settings") {
            _ = try light.seconds("light_on_duration")
            _ = try light.seconds("light_off_duration")
            if let color = light.take("color"), color.members == nil {
                throw .invalid(light.place("color"), "must be an object, not \(color.kind)")
            }
            try light.end()
        }
    }
}

extension FCMApple {
    /// Reads the fields for Apple's platforms.
    init(_ fields: FieldReader) throws(FCMRejection) {
        var fields = fields
        self.init()
        if let headers = try fields.map("headers") { try take(headers, at: fields.place("headers")) }
        if let value = fields.take("payload") {
            guard let members = value.members else {
                throw .invalid(fields.place("payload"), "must be an object, not \(value.kind)")
            }
            try Self.check(members, at: fields.place("payload"))
            payload = members
        }
        (label, image, _) = try FCMMessage.options(&fields, hasImage: true)
        // Whose it is, only a device with Live Activities could say.
        isForLiveActivity = try fields.string("live_activity_token")?.isEmpty == false
        try fields.end()
    }

    private static func check(_ members: [JSONValue.Member], at place: String) throws(FCMRejection) {
        if let aps = JSONValue.object(members)["aps"], aps.members == nil {
            throw .invalid("\(place).aps", "must be an object, not \(aps.kind)")
        }
        for member in members where member.name.hasPrefix("google.") || member.name.hasPrefix("gcm.") {
            throw .invalid("\(place)[\(member.name.prefix(64))]", "what begins with google. or gcm. is FCM's own")
        }
    }

    private mutating func take(_ headers: [String: String], at place: String) throws(FCMRejection) {
        for (name, text) in headers.sorted(by: { $0.key < $1.key }) {
            let place = "\(place)[\(name.prefix(64))]"
            switch name.lowercased() {
            case "apns-expiration":
                guard let seconds = Int64(text), seconds >= 0, seconds < 1 << 40 else {
                    throw .invalid(place, "must be seconds since 1970, or 0 for one attempt")
                }
                expiration = seconds
            case "apns-priority":
                guard let number = UInt8(text), Priority(rawValue: number) != nil else {
                    throw .invalid(place, "must be 1, 5 or 10")
                }
                priority = number
            case "apns-collapse-id":
                guard (1...64).contains(text.utf8.count) else { throw .invalid(place, "must have 1 to 64 bytes") }
                collapseID = text
            case "apns-push-type":
                guard PushType(rawValue: text) != nil else { throw .invalid(place, "is no push type of APNs") }
                pushType = text
            case "apns-id":
                guard UUID(uuidString: text) != nil else { throw .invalid(place, "must be a UUID") }
                id = text
            case "apns-topic", "apns-channel-id", "apns-unique-id": break
            default: throw .invalid(place, "APNs has no such header field")
            }
        }
    }
}
