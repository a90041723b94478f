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
        if let second = try fields.object("android_v2") {
            guard android == nil else {
                throw .invalid("message.android_v2", "cannot be beside android: one of the two")
            }
            android = try FCMAndroid(second: second)
        }
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
                ["from", "gcm", "message_type", "aps", "fcm_options"].contains(key) || key.hasPrefix("google")
                || key.hasPrefix("gcm.")
            guard !key.isEmpty else { throw .invalid("\(fields.place("data"))[]", "a key has a character at least") }
            if isReserved {
                throw .invalid(
                    "\(fields.place("data"))[\(key.prefix(64))]",
                    "the key is reserved: from, gcm, message_type, aps, fcm_options, and what begins with google or gcm., "
                        + "is FCM's own")
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
        if pushType == PushType.background.rawValue, priority == Priority.immediate.rawValue {
            throw .invalid(
                "\(fields.place("headers"))[apns-priority]", "must be 5 with the push type background: APNs refuses 10")
        }
        try fields.end()
    }

    private static func check(_ members: [JSONValue.Member], at place: String) throws(FCMRejection) {
        guard let aps = JSONValue.object(members)["aps"] else {
            throw .invalid("\(place).aps", "is missing: a payload of APNs has it, with other members beside it")
        }
        guard aps.members != nil else { throw .invalid("\(place).aps", "must be an object, not \(aps.kind)") }
        try checkNames(members, at: place)
    }

    /// Refuses the members of a payload that FCM alone sets.
    static func checkNames(_ members: [JSONValue.Member], at place: String) throws(FCMRejection) {
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
