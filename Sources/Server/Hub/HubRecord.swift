import PushModel

/// A notification hub: the installations of one app, and those who may address them.
package struct HubRecord: Hashable, Sendable {
    /// Its number in the store.
    package var number: Int64
    /// Its name, the first part of its addresses.
    package var name: String
    /// The team that owns it.
    package var team: TeamID
    /// The topic of its app.
    package var topic: Topic
    /// Whether expressions have Azure's limits: 20 tags with `||` alone, 6 otherwise.
    package var isStrict: Bool
    /// When it was made.
    package var createdAt: Timestamp
    /// Rises when another process changes installations: what is kept in memory of them is read again.
    package var generation: Int64
    /// Its quotas.
    package var limits: HubLimits

    /// Makes an entry; nothing is checked.
    package init(
        number: Int64, name: String, team: TeamID, topic: Topic, isStrict: Bool, createdAt: Timestamp,
        generation: Int64 = 0, limits: HubLimits = HubLimits()
    ) {
        self.number = number
        self.name = name
        self.team = team
        self.topic = topic
        self.isStrict = isStrict
        self.createdAt = createdAt
        self.generation = generation
        self.limits = limits
    }

    /// Names that are addresses of other interfaces on the same listeners.
    package static let reservedNames: Set<String> = [
        "api", "c2dm", "checkin", "fcm", "health", "iid", "media", "metrics", "v1", "v1beta1",
    ]

    /// Why a text cannot be a hub's name; `nil` where it can.
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

/// What a key of a hub may do.
package struct HubRights: OptionSet, Hashable, Sendable {
    /// The bits.
    package let rawValue: Int
    /// Takes bits as they are.
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// Put, read, change and delete single installations.
    package static let listen = HubRights(rawValue: 1)
    /// Send, schedule, and ask what became of it.
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

    /// Reads names with commas between them, without regard to case; Manage has the others in it.
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
    /// Its name.
    package var name: String
    /// What it may do.
    package var rights: HubRights
    /// Its text, with which requests are signed.
    @Secret package var primary: String
    /// A second text that counts as well, so that the first can be changed.
    @Secret package var secondary: String
    /// When it was made.
    package var createdAt: Timestamp

    /// Makes an entry; nothing is checked.
    package init(name: String, rights: HubRights, primary: String, secondary: String, createdAt: Timestamp) {
        self.name = name
        self.rights = rights
        _primary = Secret(primary)
        _secondary = Secret(secondary)
        self.createdAt = createdAt
    }

    /// The name of the key with every right that each hub begins with.
    package static let fullName = "DefaultFullSharedAccessSignature"
    /// The name of the key for apps that each hub begins with.
    package static let listenName = "DefaultListenSharedAccessSignature"
}
