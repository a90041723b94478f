import PushCore

/// The body of a Matrix homeserver's request `POST /_matrix/push/v1/notify`: an event or the numbers of unread ones, and the
/// devices to notify.
///
/// Source: Matrix specification, "Push Gateway API".
package struct MatrixNotification: Hashable, Sendable {
    /// A device to notify.
    package struct Device: Hashable, Sendable {
        /// The key that the device's app gave to the homeserver.
        package var pushkey: String
        /// The key as a device token, where it is the base64 of one.
        package var token: String { ChatText.deviceToken(pushkey) }
        /// Whether the key is a token of APNs: 32 bytes in base64 or hexadecimal digits.
        package var isOfApple: Bool { ChatText.isAppleToken(token) }
        /// Whether the app loads the event itself: its content stays out of the notification.
        var isEventIDOnly = false
        /// The members that the app wants in every payload.
        var defaultPayload: [JSONValue.Member] = []
        var sound: String?
        var isHighlighted = false
        /// The device as the request names it.
        var source: JSONValue
    }

    /// The devices, at least one.
    package var devices: [Device]
    /// The event; `nil` where only the numbers changed.
    package var eventID: String?
    private var room: String?
    private var roomName: String?
    private var sender: String?
    private var senderName: String?
    private var kind: String?
    private var isInvitation = false
    /// Whether the homeserver wants the devices to be woken.
    package private(set) var isUrgent = true
    private var body: String?
    private var unread: Int?
    private let source: JSONValue

    /// Reads a body.
    ///
    /// - Throws: The first fault, with its field.
    package init(body bytes: [UInt8]) throws(FCMRejection) {
        do { source = try JSONValue(object: bytes) } catch {
            throw FCMRejection(.invalidArgument, "the body is not a JSON object: \(error)")
        }
        var whole = try FieldReader(source, at: "")
        guard var fields = try whole.object("notification") else { throw .invalid("notification", "is missing") }
        devices = try Self.devices(&fields)
        eventID = try fields.string("event_id")
        room = try fields.string("room_id")
        let (name, alias) = (try fields.string("room_name"), try fields.string("room_alias"))
        roomName = name ?? alias
        sender = try fields.string("sender")
        senderName = try fields.string("sender_display_name")
        kind = try fields.string("type")
        isInvitation = try fields.boolean("user_is_target") ?? false
        isUrgent = try fields.string("prio") != "low"
        if var counts = try fields.object("counts") {
            let (messages, calls) = (try counts.integer("unread"), try counts.integer("missed_calls"))
            unread = (messages ?? 0) + (calls ?? 0)
        }
        // An event's content has any form: what is no text is not shown.
        body = fields.take("content")?["body"]?.text
    }

    private static func devices(_ fields: inout FieldReader) throws(FCMRejection) -> [Device] {
        let place = fields.place("devices")
        guard let items = fields.take("devices")?.items, !items.isEmpty else {
            throw .invalid(place, "must be an array of at least one device")
        }
        var devices: [Device] = []
        for (index, item) in items.enumerated() {
            var fields = try FieldReader(item, at: "\(place)[\(index)]")
            guard let pushkey = try fields.string("pushkey"), !pushkey.isEmpty else {
                throw .invalid(fields.place("pushkey"), "is missing")
            }
            var device = Device(pushkey: pushkey, source: item)
            if let data = fields.take("data") {
                device.isEventIDOnly = data["format"]?.text == "event_id_only"
                device.defaultPayload = data["default_payload"]?.members ?? []
                try FCMApple.checkNames(device.defaultPayload, at: fields.place("data.default_payload"))
            }
            if let tweaks = fields.take("tweaks") {
                device.sound = tweaks["sound"]?.text
                device.isHighlighted = tweaks["highlight"]?.isTrue ?? (tweaks["highlight"] != nil)
            }
            devices.append(device)
        }
        return devices
    }

    /// The message that one of the devices gets.
    package func message(for device: Device) -> FCMMessage {
        var apple = FCMApple()
        apple.payload = payload(for: device).members
        apple.priority = isUrgent ? 10 : 5
        apple.collapseID = eventID.map { ChatText.collapseID("matrix", event: $0) } ?? "matrix-counts"
        return FCMMessage(target: .token(device.token), apns: apple)
    }

    private func payload(for device: Device) -> ChatPayload {
        var payload = ChatPayload()
        for member in device.defaultPayload {
            if member.name == "aps" { payload.aps = member.value.members ?? [] } else { payload.others.append(member) }
        }
        if eventID != nil, !payload.aps.contains(where: { $0.name == "alert" }) {
            let title = senderName ?? sender ?? roomName
            payload.setAlert(
                title: ChatText.shortened(title, to: ChatText.longestName),
                subtitle: roomName == title ? nil : ChatText.shortened(roomName, to: ChatText.longestName),
                body: text(for: device))
        }
        payload.setAPS("badge", unread)
        payload.setAPS("sound", device.sound)
        payload.setAPS("thread-id", room)
        payload.set("event_id", eventID)
        payload.set("room_id", room)
        payload.set("sender", device.isEventIDOnly ? nil : sender)
        payload.set("type", device.isEventIDOnly ? nil : kind)
        if device.isHighlighted { payload.others.append(.init("highlight", .boolean(true))) }
        return payload
    }

    private func text(for device: Device) -> String {
        if !device.isEventIDOnly, let text = ChatText.shortened(body, to: ChatText.longestBody) { return text }
        return switch kind {
        case "m.call.invite": "Incoming call"
        case "m.room.member" where isInvitation: "Invitation to a room"
        default: "New message"
        }
    }

    /// The request as it came, with this device alone: the message that an app of UnifiedPush gets.
    ///
    /// - Parameter limit: The greatest size in bytes. The event's content is left out where the request is larger.
    package func body(for device: Device, limit: Int) -> [UInt8] {
        var request = source
        var notification = source["notification"] ?? .object([])
        notification.set("devices", .array([device.source]))
        request.set("notification", notification)
        guard request.bytes.count > limit else { return request.bytes }
        notification.set("content", nil)
        request.set("notification", notification)
        return request.bytes
    }
}
