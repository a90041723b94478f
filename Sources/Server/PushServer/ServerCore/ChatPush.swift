import PushCore

/// A push of a chat server for a phone, which a notification hub sends through the phone's push service.
package struct ChatPush: Hashable, Sendable {
    /// The push service of a phone.
    package enum Platform: Hashable, Sendable {
        /// APNs.
        case apple
        /// FCM.
        case android
    }

    /// The push service.
    package var platform: Platform
    /// The phone's token at the push service.
    package var token: String
    /// The payload of APNs, or the body of FCM's HTTP v1 API without a target.
    package var body: [UInt8]
    /// The header fields for APNs, by their names in lower case.
    package var headers: [String: String]
    /// The id of the event that the push is about; a repeated request about it is not sent again. `nil` for none.
    package var event: String?

    /// Creates an instance from its properties.
    package init(
        platform: Platform, token: String, body: [UInt8], headers: [String: String] = [:], event: String? = nil
    ) {
        self.platform = platform
        self.token = token
        self.body = body
        self.headers = headers
        self.event = event
    }
}

/// Sends the pushes of chat servers by the hub that their gateway's address names.
package protocol ChatPushHub: Sendable {
    /// Whether the text is a valid key of a hub, `HUB.KEY`, with the right to send; `nil` for a text of another form.
    func accepts(key: String) async throws -> Bool?
    /// Stores a push, which the hub then sends.
    func send(_ push: ChatPush, key: String) async throws -> ChatPushOutcome
}

/// The result of a chat server's push.
package enum ChatPushOutcome: Hashable, Sendable {
    /// The hub has stored it.
    case accepted
    /// The push service has refused the token for good.
    case tokenEnded
    /// The push cannot be sent, for this reason.
    case refused(String)
}
