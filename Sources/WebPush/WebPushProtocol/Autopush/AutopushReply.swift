import PushCore

/// A message that the server sends over Autopush's WebSocket.
package enum AutopushReply: Hashable, Sendable {
    /// `hello`: the client's id from now on.
    case hello(PushClientID)
    /// `hello` with another status than 200: the client is not served.
    case helloRefused(status: Int, reason: String)
    /// `register`: the address that application servers send to.
    case registered(channel: PushChannelID, address: String)
    /// `register` with another status than 200.
    case registerRefused(channel: String, status: Int, reason: String)
    /// `unregister`.
    case unregistered(channel: String, status: Int)
    /// `notification`: a message of an application server; `ttl` is the time that it has left, in seconds.
    case notification(ChannelMessage, version: String, ttl: Int64)
    /// `broadcast`, without any announcement.
    case broadcast
    /// `{}`, the answer to the client's.
    case ping

    /// The text.
    package var text: String {
        switch self {
        case .hello(let id):
            Self.object(
                "hello",
                [
                    ("uaid", .string(id.text)), ("status", .number("200")), ("use_webpush", .boolean(true)),
                    ("broadcasts", .object([])),
                ])
        case .helloRefused(let status, let reason):
            Self.object(
                "hello", [("uaid", .string("")), ("status", .number(String(status))), ("error", .string(reason))])
        case .registered(let channel, let address):
            Self.object(
                "register",
                [
                    ("channelID", .string(channel.description)), ("status", .number("200")),
                    ("pushEndpoint", .string(address)),
                ])
        case .registerRefused(let channel, let status, let reason):
            Self.object(
                "register",
                [
                    ("channelID", .string(channel)), ("status", .number(String(status))), ("error", .string(reason)),
                ])
        case .unregistered(let channel, let status):
            Self.object("unregister", [("channelID", .string(channel)), ("status", .number(String(status)))])
        case .notification(let message, let version, let ttl): Self.notification(message, version: version, ttl: ttl)
        case .broadcast: Self.object("broadcast", [("broadcasts", .object([]))])
        case .ping: "{}"
        }
    }

    private static func notification(_ message: ChannelMessage, version: String, ttl: Int64) -> String {
        var members: [(String, JSONValue)] = [
            ("channelID", .string(message.channel.description)), ("version", .string(version)),
            ("ttl", .number(String(ttl))),
        ]
        let envelope = message.envelope
        if !envelope.body.isEmpty {
            let headers = [
                ("encoding", envelope.contentEncoding), ("encryption", envelope.encryption),
                ("crypto_key", envelope.cryptoKey),
            ]
            members.append(("data", .string(Base64URL.encode(envelope.body))))
            members.append(
                (
                    "headers",
                    .object(headers.filter { !$0.1.isEmpty }.map { JSONValue.Member($0.0, .string($0.1)) })
                ))
        }
        return object("notification", members)
    }

    private static func object(_ kind: String, _ members: [(String, JSONValue)]) -> String {
        JSONValue.object(
            [JSONValue.Member("messageType", .string(kind))] + members.map { JSONValue.Member($0.0, $0.1) }
        ).json
    }
}
