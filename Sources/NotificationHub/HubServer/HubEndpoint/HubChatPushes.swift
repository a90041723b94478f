import Crypto
import HubProtocol
import PushCore
import PushServer
import Synchronization

/// Sends the pushes of chat servers as direct sends of a hub.
///
/// A key is `HUB.KEY`: the hub's name, and a key of the hub's own API with the right `Send`. Thread-safe.
///
/// A push is sent after it was answered. Where the push service refuses the token, the answer to the token's next push says
/// so; after a restart of the server, that to the one after it.
package final class HubChatPushes: ChatPushHub {
    let hubs: NotificationHubs
    let access: HubAccess
    /// The number of each phone's last send.
    private let lastSends = Mutex<[Phone: Int64]>([:])

    private struct Phone: Hashable {
        var hub: Int64
        var channel: String
    }

    /// The number of phones whose last send is known.
    private static let mostPhones = 10_000

    /// Creates the service for some hubs; `names` are the names by which clients reach the server.
    package init(hubs: NotificationHubs, names: @escaping @Sendable () -> ServerNames) {
        self.hubs = hubs
        access = HubAccess(store: hubs.store, names: names)
    }

    /// Whether the text is a valid key of a hub with the right to send; `nil` for a text of another form.
    package func accepts(key: String) async throws -> Bool? {
        guard let (name, apiKey) = Self.parts(of: key) else { return nil }
        let hub = try await hubs.store.hub(named: name)
        do {
            try await access.check(apiKey: apiKey, for: .send, of: hub, now: hubs.now)
            return true
        } catch is HubAccess.Refusal { return false }
    }

    /// Stores a push, which the hub then sends.
    package func send(_ push: ChatPush, key: String) async throws -> ChatPushOutcome {
        guard let (name, _) = Self.parts(of: key), let hub = try await hubs.store.hub(named: name) else {
            return .refused("the hub does not exist")
        }
        let platform: HubPlatform = push.platform == .apple ? .apns : .fcmv1
        let channel = platform.spelling(ofChannel: push.token)
        let phone = Phone(hub: hub.number, channel: channel)
        if try await isRefused(phone) { return .tokenEnded }
        do {
            let record = try await hubs.accept(
                SendRequest(
                    format: .native(platform), body: push.body, headers: push.headers, target: .channels([channel]),
                    idempotencyKey: push.event.map { Self.idempotencyKey($0, channel) }), for: hub)
            remember(record.number, of: phone)
        } catch HubError.keyReused {
            // The event was sent to the phone already, with other numbers of unread messages.
        } catch let error as HubError { return .refused("\(error)") }
        return .accepted
    }

    /// Whether the push service has refused the phone's token at the last send. It is tried again after the answer.
    private func isRefused(_ phone: Phone) async throws -> Bool {
        guard let send = lastSends.withLock({ $0[phone] }) else { return false }
        let outcome = try await hubs.store.recipients(of: send, after: nil, limit: 1).first?.outcome
        guard outcome == .expiredChannel || outcome == .badChannel else { return false }
        lastSends.withLock { $0[phone] = nil }
        return true
    }

    private func remember(_ send: Int64, of phone: Phone) {
        lastSends.withLock { sends in
            // The oldest are not known; without any, a phone gets one push more than it needs.
            if sends.count >= Self.mostPhones { sends.removeAll(keepingCapacity: true) }
            sends[phone] = send
        }
    }

    private static func idempotencyKey(_ event: String, _ channel: String) -> String {
        "chat-\(Base64URL.encode(Array(SHA256.hash(data: Array("\(event) \(channel)".utf8)))))"
    }

    private static func parts(of key: String) -> (hub: String, apiKey: String)? {
        guard let mark = key.firstRange(of: ".\(HubAPIKey.mark)") else { return nil }
        return (String(key[..<mark.lowerBound]), String(key[key.index(after: mark.lowerBound)...]))
    }
}
