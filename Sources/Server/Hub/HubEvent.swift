import Crypto
import HubWire
import PushModel

/// Where a hub's events are sent.
package struct HubWebhook: Hashable, Sendable {
    /// The hub's number.
    package var hub: Int64
    /// The address, `https://host/path`.
    package var url: String
    /// What signs the requests.
    @Secret package var secret: String
    /// When it was set.
    package var setAt: Timestamp

    /// Brings the parts together.
    package init(hub: Int64, url: String, secret: String, setAt: Timestamp) {
        self.hub = hub
        self.url = url
        _secret = Secret(secret)
        self.setAt = setAt
    }
}

/// Something that a hub tells the owner of its webhook.
package struct HubEvent: Hashable, Sendable {
    /// What happened.
    package enum Kind: String, Sendable, CaseIterable {
        /// A send or campaign has come to its end, however it did: a trigger of the store notes it.
        case sendEnded = "send.ended"
        /// A push service called a channel dead, or another installation took it.
        case channelDead = "channel.dead"
        /// The numbers of a campaign's report are others. It is told, not noted: the next one has newer numbers.
        case campaignReport = "campaign.report"
    }

    /// Its number, which rises; the receiver knows by it what it has. 0 for what is not noted.
    package var number: Int64
    /// The hub's number.
    package var hub: Int64
    /// What happened.
    package var kind: Kind
    /// What is to be said of it: an object.
    package var data: JSONTree
    /// When.
    package var at: Timestamp

    /// Brings the parts together.
    package init(number: Int64, hub: Int64, kind: Kind, data: JSONTree, at: Timestamp) {
        self.number = number
        self.hub = hub
        self.kind = kind
        self.data = data
        self.at = at
    }

    /// How long an event waits for its receiver: three days, in milliseconds.
    package static let lifetime: Int64 = 3 * 86_400_000
    /// How many events wait, at most, over all hubs; beyond that the oldest of the hubs with the most give way.
    package static let most = 100_000

    /// By what the receiver knows it: of a report that is the send and the time.
    private var id: String {
        kind == .campaignReport ? "\(data["send"]?.text ?? "")-\(at.rawValue)" : String(number)
    }

    /// As it is sent.
    package func body(hub name: String) -> [UInt8] {
        JSONTree.object([
            .init("id", .string(id)), .init("type", .string(kind.rawValue)),
            .init("at", .string(WireTime.write(at))), .init("hub", .string(name)), .init("data", data),
        ]).bytes
    }
}

/// A key of our own API, of which the hash alone is kept.
package struct HubAPIKey: Hashable, Sendable {
    /// Its hub's number.
    package var hub: Int64
    /// Its name.
    package var name: String
    /// What it may do.
    package var rights: HubRights
    /// Until when it counts; `nil` for ever.
    package var expiresAt: Timestamp?
    /// When it was made.
    package var createdAt: Timestamp

    /// Brings the parts together.
    package init(hub: Int64, name: String, rights: HubRights, expiresAt: Timestamp?, createdAt: Timestamp) {
        self.hub = hub
        self.name = name
        self.rights = rights
        self.expiresAt = expiresAt
        self.createdAt = createdAt
    }

    /// What each key begins with, so that it is known where it turns up.
    package static let mark = "aldaba_hub_"

    /// SHA-256 of a key, a backend's too: all that is kept of it.
    package static func hash(_ key: String) -> [UInt8] { Array(SHA256.hash(data: Array(key.utf8))) }
}
