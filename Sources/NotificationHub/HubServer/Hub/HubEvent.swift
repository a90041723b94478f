import Crypto
import HubProtocol
import PushCore

/// The webhook of a hub: the address to which its events are sent.
package struct HubWebhook: Hashable, Sendable {
    /// The number of the hub.
    package var hub: Int64
    /// The address, `https://host/path`.
    package var url: String
    /// The HMAC key that signs the requests.
    @Secret package var secret: String
    /// The time at which the webhook was set.
    package var setAt: Timestamp

    /// Creates an instance from its properties.
    package init(hub: Int64, url: String, secret: String, setAt: Timestamp) {
        self.hub = hub
        self.url = url
        _secret = Secret(secret)
        self.setAt = setAt
    }
}

/// An event of a hub, sent to its webhook.
package struct HubEvent: Hashable, Sendable {
    /// The kind of an event.
    package enum Kind: String, Sendable, CaseIterable {
        /// A send or campaign has ended, for whatever reason. A trigger of the store records the event.
        case sendEnded = "send.ended"
        /// A push service reported a channel dead, or another installation registered it.
        case channelDead = "channel.dead"
        /// The counts of a campaign's report have changed. The event is sent, not stored: the next one has newer
        /// counts.
        case campaignReport = "campaign.report"
    }

    /// The event's number, which rises and by which the receiver recognizes repetitions; 0 for an event that is not
    /// stored.
    package var number: Int64
    /// The number of the hub.
    package var hub: Int64
    /// The event's kind.
    package var kind: Kind
    /// The event's details: a JSON object.
    package var data: JSONValue
    /// The time of the event.
    package var at: Timestamp

    /// Creates an instance from its properties.
    package init(number: Int64, hub: Int64, kind: Kind, data: JSONValue, at: Timestamp) {
        self.number = number
        self.hub = hub
        self.kind = kind
        self.data = data
        self.at = at
    }

    /// The time for which an event is kept for its receiver: three days, in milliseconds.
    package static let lifetime: Int64 = 3 * 86_400_000
    /// How many events wait, at most, over all hubs; beyond that the oldest of the hubs with the most are deleted.
    package static let most = 100_000

    /// The id by which the receiver recognizes the event; for a report, the send and the time.
    private var id: String {
        kind == .campaignReport ? "\(data["send"]?.text ?? "")-\(at.rawValue)" : String(number)
    }

    /// The event's JSON as it is sent to the webhook.
    package func body(hub name: String) -> [UInt8] {
        JSONValue.object([
            .init("id", .string(id)), .init("type", .string(kind.rawValue)),
            .init("at", .string(WireTime.write(at))), .init("hub", .string(name)), .init("data", data),
        ]).bytes
    }
}

/// A key of the hub's own API, of which only the hash is stored.
package struct HubAPIKey: Hashable, Sendable {
    /// The number of the hub.
    package var hub: Int64
    /// The key's name.
    package var name: String
    /// The rights that the key grants.
    package var rights: HubRights
    /// The time at which the key expires; `nil` for never.
    package var expiresAt: Timestamp?
    /// The time at which the key was made.
    package var createdAt: Timestamp

    /// Creates an instance from its properties.
    package init(hub: Int64, name: String, rights: HubRights, expiresAt: Timestamp?, createdAt: Timestamp) {
        self.hub = hub
        self.name = name
        self.rights = rights
        self.expiresAt = expiresAt
        self.createdAt = createdAt
    }

    /// The prefix of every key, which makes a leaked key recognizable.
    package static let mark = "aldaba_hub_"

    /// The SHA-256 of a key, or of a backend's key: the only form in which it is stored.
    package static func hash(_ key: String) -> [UInt8] { Array(SHA256.hash(data: Array(key.utf8))) }
}
