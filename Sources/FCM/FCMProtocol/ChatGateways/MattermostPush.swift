import PushCore

/// The body of a Mattermost server's request `POST /api/v1/send_push` to its push proxy.
///
/// Source: Mattermost's server, `model.PushNotification`.
package struct MattermostPush: Hashable, Sendable {
    /// The device token, 64 hexadecimal digits or the base64 of 32 bytes.
    package var device: String
    /// Whether the app is one for Android.
    package var isOfAndroid: Bool
    private var kind: String
    private var message: String?
    private var category: String?
    private var sound: String?
    private var badge: Int?
    private var isIDLoaded = false
    /// The texts that the app gets as they are, by their names.
    private var texts: [JSONValue.Member] = []

    private static let names = [
        "ack_id", "server_id", "team_id", "channel_id", "root_id", "post_id", "channel_name", "sender_id",
        "sender_name", "override_username", "override_icon_url", "from_webhook", "version", "sub_type", "signature",
    ]

    /// Reads a body.
    ///
    /// - Throws: The first fault, with its field.
    package init(body: [UInt8]) throws(FCMRejection) {
        let value: JSONValue
        do { value = try JSONValue(object: body) } catch {
            throw FCMRejection(.invalidArgument, "the body is not a JSON object: \(error)")
        }
        var fields = try FieldReader(value, at: "")
        guard let device = try fields.string("device_id"), !device.isEmpty else {
            throw .invalid("device_id", "is missing")
        }
        self.device = ChatText.deviceToken(device)
        isOfAndroid = try fields.string("platform")?.hasPrefix("android") ?? false
        kind = try fields.string("type") ?? "message"
        message = try fields.string("message")
        category = try fields.string("category")
        sound = try fields.string("sound")
        // Mattermost leaves 0 out, as after the last message was read, and sends -1 for a badge that stays.
        let count = try fields.integer("badge") ?? 0
        badge = count < 0 ? nil : count
        isIDLoaded = try fields.boolean("is_id_loaded") ?? false
        for name in Self.names {
            guard let text = try fields.string(name), !text.isEmpty else { continue }
            texts.append(.init(name, .string(text)))
        }
    }

    private func text(_ name: String) -> String? { texts.last { $0.name == name }?.value.text }

    /// The message for the device.
    package var fcm: FCMMessage {
        var payload = ChatPayload()
        let isShown = kind == "message" || kind == "session" || kind == "test"
        if isShown {
            payload.setAlert(
                title: ChatText.shortened(text("channel_name"), to: ChatText.longestName),
                body: ChatText.shortened(message, to: ChatText.longestBody) ?? "New message")
            payload.setAPS("category", category)
            payload.setAPS("sound", sound == "none" ? nil : "default")
            if isIDLoaded { payload.setAPS("mutable-content", 1) }
        } else {
            payload.setAPS("content-available", 1)
        }
        payload.setAPS("badge", badge)
        payload.setAPS("thread-id", text("channel_id"))
        payload.others = [.init("type", .string(kind))] + texts
        if isIDLoaded { payload.others.append(.init("is_id_loaded", .boolean(true))) }
        var apple = FCMApple()
        apple.payload = payload.members
        apple.priority = isShown ? 10 : 5
        // A later state of a channel replaces an earlier one; a notification is of one push.
        let event = isShown ? text("ack_id") ?? text("post_id") : "\(kind) \(text("channel_id") ?? "")"
        apple.collapseID = event.map { ChatText.collapseID("mattermost", event: $0) }
        return FCMMessage(target: .token(device), apns: apple)
    }
}
