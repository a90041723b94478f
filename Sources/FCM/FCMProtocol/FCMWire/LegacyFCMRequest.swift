import PushCore

/// The body of FCM's legacy HTTP API, `POST /fcm/send`: a message, and one or more targets.
///
/// Fields are read as Google's server did: names that it does not have are ignored, and values of data become strings.
package struct LegacyFCMRequest: Hashable, Sendable {
    /// The targets of a message.
    package enum Targets: Hashable, Sendable {
        /// `to` with a registration token.
        case token(String)
        /// `to` with the notification key of a device group.
        case group(String)
        /// `to` with a topic, or `condition`.
        case audience(FCMTarget)
        /// `registration_ids`.
        case tokens([String])
    }

    /// The targets.
    package var targets: Targets
    /// Whether the message is checked only, and not sent.
    package var isDryRun: Bool
    /// The message; its target is to be replaced.
    private let message: FCMMessage

    /// The greatest number of `registration_ids`.
    package static let tokenLimit = 1000

    /// Reads a body.
    ///
    /// - Parameter isGroup: Whether a text is the notification key of a device group.
    /// - Throws: the first fault, with its field.
    package init(body: [UInt8], isGroup: (String) -> Bool) throws(FCMRejection) {
        let value: JSONValue
        do { value = try JSONValue(object: body) } catch {
            throw FCMRejection(.invalidArgument, "JSON_PARSING_ERROR: the body is not a JSON object: \(error)")
        }
        var fields = try FieldReader(value, at: "")
        targets = try Self.targets(&fields, isGroup: isGroup)
        isDryRun = try fields.boolean("dry_run") ?? false
        message = try Self.message(&fields)
    }

    /// The message for one target.
    package func message(to target: FCMTarget) -> FCMMessage {
        var message = message
        message.target = target
        return message
    }

    private static func targets(
        _ fields: inout FieldReader, isGroup: (String) -> Bool
    ) throws(FCMRejection) -> Targets {
        var found: [Targets] = []
        if let to = try fields.string("to"), !to.isEmpty {
            if to.hasPrefix("/topics/") {
                guard let topic = FCMTarget.topicName(to) else {
                    throw .invalid("to", "a topic's name has the characters a-z A-Z 0-9 - _ . ~ % alone")
                }
                found.append(.audience(.topic(topic)))
            } else {
                found.append(isGroup(to) ? .group(to) : .token(to))
            }
        }
        if let condition = try fields.string("condition"), !condition.isEmpty {
            found.append(.audience(.condition(condition)))
        }
        if let tokens = try fields.strings("registration_ids") {
            guard (1...tokenLimit).contains(tokens.count) else {
                throw .invalid("registration_ids", "must have 1 to \(tokenLimit) tokens, and has \(tokens.count)")
            }
            found.append(.tokens(tokens))
        }
        guard let first = found.first else {
            throw .invalid("to", "is missing: one of to, registration_ids, condition")
        }
        guard found.count == 1 else { throw .invalid("to", "only one of to, registration_ids, condition is allowed") }
        return first
    }

    private static func message(_ fields: inout FieldReader) throws(FCMRejection) -> FCMMessage {
        var message = FCMMessage(target: .token(""))
        message.data = try data(&fields)
        var android = FCMAndroid()
        android.collapseKey = try fields.string("collapse_key").flatMap { $0.isEmpty ? nil : $0 }
        if let key = android.collapseKey, key.utf8.count > 64 {
            throw .invalid("collapse_key", "has \(key.utf8.count) bytes, at most 64 are allowed")
        }
        android.isUrgent = try fields.word("priority", of: ["NORMAL", "HIGH"]).map { $0 == "HIGH" }
        android.timeToLive = try fields.integer("time_to_live")
        if let seconds = android.timeToLive, !(0...FCMAndroid.longestTimeToLive).contains(seconds) {
            throw .invalid("time_to_live", "must be 0 to \(FCMAndroid.longestTimeToLive) seconds, 28 days")
        }
        android.package = try fields.string("restricted_package_name").flatMap { $0.isEmpty ? nil : $0 }
        var aps: [JSONValue.Member] = []
        if try fields.boolean("content_available") == true { aps.append(.init("content-available", .number("1"))) }
        if try fields.boolean("mutable_content") == true { aps.append(.init("mutable-content", .number("1"))) }
        if let notification = try fields.object("notification") {
            try read(notification, into: &message, &android, &aps)
        }
        message.android = android
        if !aps.isEmpty {
            message.apns = FCMApple()
            message.apns?.payload = [.init("aps", .object(aps))]
        }
        return message
    }

    /// Reads the member `data`; values that are no strings become their JSON text.
    private static func data(_ fields: inout FieldReader) throws(FCMRejection) -> [String: String]? {
        guard let value = fields.take("data") else { return nil }
        guard let members = value.members else { throw .invalid("data", "must be an object, not \(value.kind)") }
        let texts = JSONValue.object(members.map { .init($0.name, .string($0.value.text ?? $0.value.json)) })
        var reader = try FieldReader(.object([.init("data", texts)]), at: "")
        return try FCMMessage.data(&reader)
    }

    private static func read(
        _ fields: FieldReader, into message: inout FCMMessage, _ android: inout FCMAndroid,
        _ aps: inout [JSONValue.Member]
    ) throws(FCMRejection) {
        var fields = fields
        func present(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
        message.notification = try FCMNotification(taking: &fields)
        var shown = FCMAndroidNotification()
        shown.sound = present(try fields.string("sound"))
        shown.clickAction = present(try fields.string("click_action"))
        shown.tag = present(try fields.string("tag"))
        shown.titleKey = present(try fields.string("title_loc_key"))
        shown.titleArguments = try arguments("title_loc_args", &fields)
        shown.bodyKey = present(try fields.string("body_loc_key"))
        shown.bodyArguments = try arguments("body_loc_args", &fields)
        shown.count = try fields.integer("badge")
        android.notification = shown
        if let subtitle = present(try fields.string("subtitle")) {
            aps.append(.init("alert", .object([.init("subtitle", .string(subtitle))])))
        }
    }

    /// Reads a list of texts, which clients also write as a string of JSON.
    private static func arguments(
        _ name: String, _ fields: inout FieldReader
    ) throws(FCMRejection) -> [String]? {
        guard let value = fields.take(name) else { return nil }
        guard let items = value.items ?? value.text.flatMap({ try? JSONValue(text: $0).items }) else {
            throw .invalid(fields.place(name), "must be an array of strings, not \(value.kind)")
        }
        return items.map { $0.text ?? $0.json }
    }
}

/// The error of one target in an answer of FCM's legacy HTTP API.
package enum LegacyFCMError: String, Error, Hashable, Sendable, CaseIterable {
    /// The registration token has not the form of one.
    case invalidRegistration = "InvalidRegistration"
    /// The registration has ended, or never was.
    case notRegistered = "NotRegistered"
    /// The registration token is another sender's.
    case mismatchSenderID = "MismatchSenderId"
    /// The registration token is not one of the app that `restricted_package_name` names.
    case invalidPackageName = "InvalidPackageName"
    /// The message is too large.
    case messageTooBig = "MessageTooBig"
    /// The app has no credential for push notifications.
    case invalidAPNsCredential = "InvalidApnsCredential"
    /// The device was sent too many messages.
    case deviceMessageRateExceeded = "DeviceMessageRateExceeded"
    /// The subscribers of a topic were sent too many messages.
    case topicsMessageRateExceeded = "TopicsMessageRateExceeded"
    /// Another field is not as it must be.
    case invalidParameters = "InvalidParameters"
    /// The server cannot take the message now.
    case unavailable = "Unavailable"
    /// The server's own fault.
    case internalServerError = "InternalServerError"

    /// The error that stands for a refusal.
    ///
    /// - Parameter isAudience: Whether the target was a topic or a condition.
    package init(_ rejection: FCMRejection, isAudience: Bool) {
        self =
            switch rejection.code {
            case .unregistered: .notRegistered
            case .senderIDMismatch: .mismatchSenderID
            case .quotaExceeded: isAudience ? .topicsMessageRateExceeded : .deviceMessageRateExceeded
            case .unavailable: .unavailable
            case .internal: .internalServerError
            case nil: rejection.status == .unavailable ? .unavailable : .internalServerError
            case .thirdPartyAuthError: .invalidAPNsCredential
            case .invalidArgument:
                switch rejection.field {
                case "message.token": .invalidRegistration
                case "message.android.restricted_package_name": .invalidPackageName
                case "message" where rejection.message.hasPrefix("the message is too big"): .messageTooBig
                default: .invalidParameters
                }
            }
    }
}
