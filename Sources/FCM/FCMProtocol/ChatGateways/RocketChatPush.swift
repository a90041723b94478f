import PushCore

/// The body of a Rocket.Chat workspace's request `POST /push/apn/send` or `POST /push/gcm/send` to its push gateway.
///
/// Source: Rocket.Chat's server, `app/push`.
package struct RocketChatPush: Hashable, Sendable {
    /// The device token, 64 hexadecimal digits or the base64 of 32 bytes.
    package var token: String
    private var title: String?
    private var text: String?
    private var from: String?
    private var badge: Int?
    private var sound: String?
    private var category: String?
    private var isBackground = false
    /// The facts that the app gets of the message, such as the ids of its room and its sender.
    private var payload: JSONValue?

    /// Reads a body.
    ///
    /// - Throws: The first fault, with its field.
    package init(body: [UInt8]) throws(FCMRejection) {
        let value: JSONValue
        do { value = try JSONValue(object: body) } catch {
            throw FCMRejection(.invalidArgument, "the body is not a JSON object: \(error)")
        }
        var fields = try FieldReader(value, at: "")
        guard let token = try fields.string("token"), !token.isEmpty else { throw .invalid("token", "is missing") }
        self.token = ChatText.deviceToken(token)
        guard var options = try fields.object("options") else { throw .invalid("options", "is missing") }
        title = try options.string("title")
        text = try options.string("text")
        from = try options.string("from")
        badge = try options.integer("badge")
        sound = try options.string("sound")
        isBackground = try options.integer("content_available") == 1
        payload = options.take("payload")
        if var apple = try options.object("apn") {
            category = try apple.string("category")
            // The text for iOS has the sender's name in it.
            if let own = try apple.string("text") { text = own }
        }
    }

    /// The message for the device.
    package var fcm: FCMMessage {
        var members = ChatPayload()
        members.setAlert(
            title: ChatText.shortened(title, to: ChatText.longestName),
            body: ChatText.shortened(text, to: ChatText.longestBody))
        members.setAPS("badge", badge)
        members.setAPS("sound", sound)
        members.setAPS("category", category)
        members.setAPS("thread-id", payload?["rid"]?.text)
        if isBackground { members.setAPS("content-available", 1) }
        // The apps of Rocket.Chat read the payload as text in these two members.
        members.set("ejson", payload?.json)
        members.set("messageFrom", from)
        var apple = FCMApple()
        apple.payload = members.members
        apple.priority = 10
        apple.collapseID = payload?["messageId"]?.text.map { ChatText.collapseID("rocketchat", event: $0) }
        return FCMMessage(target: .token(token), apns: apple)
    }
}
