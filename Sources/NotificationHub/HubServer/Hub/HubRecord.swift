import HubProtocol
import PushCore

/// A notification hub: the installations of one app, and the keys that give access to them.
package struct HubRecord: Hashable, Sendable {
    /// The hub's number in the store.
    package var number: Int64
    /// The hub's name, the first component of the paths of its URLs.
    package var name: String
    /// The team that owns it.
    package var team: TeamID
    /// The topic of its app.
    package var topic: Topic
    /// Whether expressions have Azure's limits: 20 tags with `||` alone, 6 otherwise.
    package var isStrict: Bool
    /// The time at which the hub was made.
    package var createdAt: Timestamp
    /// The generation of the hub's installations. It rises when another process changes them; the copy in memory is
    /// then read again.
    package var generation: Int64
    /// The version of the hub's audience. Each commit that changes it raises it by one.
    package var version: Int64
    /// The quotas of the hub.
    package var limits: HubLimits
    /// The members of payloads in which the app's extensions find pictures; `nil` for all that fit.
    package var pictureKeys: [PictureKey]?

    /// Creates a record without checking it.
    package init(
        number: Int64, name: String, team: TeamID, topic: Topic, isStrict: Bool, createdAt: Timestamp,
        generation: Int64 = 0, version: Int64 = 0, limits: HubLimits = HubLimits(), pictureKeys: [PictureKey]? = nil
    ) {
        self.number = number
        self.name = name
        self.team = team
        self.topic = topic
        self.isStrict = isStrict
        self.createdAt = createdAt
        self.generation = generation
        self.version = version
        self.limits = limits
        self.pictureKeys = pictureKeys
    }

    /// Names that no hub may have, since they are paths of other interfaces on the same listeners.
    package static let reservedNames: Set<String> = [
        "api", "c2dm", "checkin", "fcm", "health", "iid", "media", "metrics", "v1", "v1beta1",
    ]

    /// The reason why a text cannot be a hub's name; `nil` where it can.
    package static func fault(inName name: String) -> String? {
        guard (1...260).contains(name.utf8.count),
            name.unicodeScalars.allSatisfy({
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789-_.".unicodeScalars.contains($0))
            }),
            let first = name.unicodeScalars.first, first.properties.isAlphabetic || ("0"..."9").contains(first)
        else { return "a hub's name has 1 to 260 letters, digits, - _ and ., and begins with a letter or a digit" }
        return reservedNames.contains(name.lowercased()) ? "\"\(name)\" is an address of another interface" : nil
    }
}

/// Access rights of a hub's key.
package struct HubRights: OptionSet, Hashable, Sendable {
    /// The bits.
    package let rawValue: Int
    /// Creates a set from its bits.
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// Put, read, change and delete single installations.
    package static let listen = HubRights(rawValue: 1)
    /// Send, schedule, and read the outcome of sends.
    package static let send = HubRights(rawValue: 2)
    /// List, and read by tag.
    package static let manage = HubRights(rawValue: 4)
    /// Read sends, campaigns and their reports; of our own API alone.
    package static let report = HubRights(rawValue: 8)

    /// The names of the rights, `Listen,Send`.
    package var text: String {
        [(HubRights.listen, "Listen"), (.send, "Send"), (.manage, "Manage"), (.report, "Report")].filter {
            contains($0.0)
        }.map(\.1)
            .joined(separator: ",")
    }

    /// Parses names separated by commas, without regard to case; `Manage` includes `Listen` and `Send`.
    package init?(text: String) {
        var rights: HubRights = []
        for name in text.split(separator: ",") {
            switch name.lowercased() {
            case "listen": rights.insert(.listen)
            case "send": rights.insert(.send)
            case "report": rights.insert(.report)
            case "manage": rights.formUnion([.listen, .send, .manage])
            default: return nil
            }
        }
        guard !rights.isEmpty else { return nil }
        self = rights
    }
}

/// A key of a hub.
package struct HubKey: Hashable, Sendable {
    /// The key's name.
    package var name: String
    /// The rights that the key grants.
    package var rights: HubRights
    /// The HMAC key that signs requests.
    @Secret package var primary: String
    /// A second HMAC key that is accepted as well, so that the first can be changed.
    @Secret package var secondary: String
    /// The time at which the key was made.
    package var createdAt: Timestamp

    /// Creates a key without checking it.
    package init(name: String, rights: HubRights, primary: String, secondary: String, createdAt: Timestamp) {
        self.name = name
        self.rights = rights
        _primary = Secret(primary)
        _secondary = Secret(secondary)
        self.createdAt = createdAt
    }

    /// The name of the key with every right that each new hub has.
    package static let fullName = "DefaultFullSharedAccessSignature"
    /// The name of the key for apps that each new hub has.
    package static let listenName = "DefaultListenSharedAccessSignature"
}
