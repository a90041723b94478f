import PushCore

/// A message that a client sends over Autopush's WebSocket.
///
/// Source: "Push Service Bridge HTTP and WebSocket interface" of Mozilla's autopush documentation.
package enum AutopushRequest: Hashable, Sendable {
    /// `hello`, the first message; the id is `nil` for a client without subscriptions, and for one with an id that is not
    /// this server's.
    case hello(PushClientID?)
    /// `register`: a new subscription, or an existing one again. The key is the application server's, in base64url; `nil`
    /// for a subscription to which every server may send.
    case register(channel: String, key: String?)
    /// `unregister`: the end of a subscription.
    case unregister(channel: String)
    /// `ack`: the client has these messages.
    case acknowledge([Update])
    /// `nack`: the client could not deliver a message to the page.
    case reject(version: String, code: Int64)
    /// `broadcast_subscribe`: the client wants announcements of the push service, of which this server has none.
    case subscribeBroadcasts
    /// `{}`: the client asks whether the connection is alive.
    case ping

    /// The acknowledgement of one message.
    package struct Update: Hashable, Sendable {
        /// The version of the message, by which the server knows it.
        package var version: String
        /// The outcome at the client: 100 delivered, 101 not decrypted, 102 not delivered.
        package var code: Int64

        /// Takes the parts; nothing is checked.
        package init(version: String, code: Int64) {
            self.version = version
            self.code = code
        }
    }

    /// A message that is not as it must be.
    package struct Fault: Error, Hashable, Sendable {
        /// A sentence that names the member.
        package var reason: String
    }

    /// The largest message that is read, in bytes.
    package static let largest = 65_536
    /// The maximum number of messages that one `ack` names.
    package static let mostUpdates = 1_000

    /// Reads the text of a message.
    ///
    /// - Throws: ``Fault``.
    package init(_ bytes: [UInt8]) throws(Fault) {
        let value: JSONValue
        do throws(JSONScanner.Fault) { value = try JSONValue(object: bytes) } catch {
            throw Fault(reason: "a message must be a JSON object: \(error.message)")
        }
        guard let kind = value["messageType"] else {
            guard value.members?.isEmpty == true else { throw Fault(reason: "messageType is missing") }
            self = .ping
            return
        }
        switch kind.text {
        case "hello":
            // Mozilla's server no longer reads it: a client may leave it out.
            guard value["use_webpush"].map({ $0.isTrue == true }) ?? true else {
                throw Fault(reason: "use_webpush must be true where hello has it")
            }
            self = .hello(value["uaid"]?.text.flatMap(PushClientID.init(text:)))
        case "register":
            self = .register(channel: try Self.text("channelID", in: value), key: try Self.key(in: value))
        case "unregister": self = .unregister(channel: try Self.text("channelID", in: value))
        case "ack": self = .acknowledge(try Self.updates(in: value))
        case "nack":
            self = .reject(version: try Self.text("version", in: value), code: value["code"]?.integer ?? 0)
        case "broadcast_subscribe": self = .subscribeBroadcasts
        case "ping": self = .ping
        default:
            throw Fault(reason: "messageType is none of hello, register, unregister, ack, nack, broadcast_subscribe")
        }
    }

    private static func text(_ name: String, in value: JSONValue) throws(Fault) -> String {
        guard let text = value[name]?.text else { throw Fault(reason: "\(name) must be a string") }
        return text
    }

    private static func key(in value: JSONValue) throws(Fault) -> String? {
        switch value["key"] {
        case nil, .null?: return nil
        case .string(let text)?: return text
        default: throw Fault(reason: "key must be a string")
        }
    }

    private static func updates(in value: JSONValue) throws(Fault) -> [Update] {
        guard let items = value["updates"]?.items, items.count <= mostUpdates else {
            throw Fault(reason: "updates must be a list of at most \(mostUpdates)")
        }
        var updates: [Update] = []
        for item in items {
            updates.append(Update(version: try text("version", in: item), code: item["code"]?.integer ?? 100))
        }
        return updates
    }
}
