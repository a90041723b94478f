import PushCore

/// The name of a topic within a team: letters, digits and `-_.~%`, 1 to 900 of them.
package struct TopicName: Hashable, Sendable, CustomStringConvertible {
    /// The name without its prefix.
    package let text: String

    /// The prefix that a name may be written with.
    package static let prefix = "/topics/"

    /// Reads a name, with or without the prefix `/topics/`.
    ///
    /// - Throws: ``TopicNameError`` for anything else.
    package init(_ written: some StringProtocol) throws(TopicNameError) {
        let name = written.hasPrefix(Self.prefix) ? written.dropFirst(Self.prefix.count) : written[...]
        guard !name.isEmpty else { throw TopicNameError(reason: "a topic's name is empty") }
        guard name.utf8.count <= 900 else { throw TopicNameError(reason: "a topic's name is longer than 900 bytes") }
        if let wrong = name.first(where: { !Self.isNameCharacter($0) }) {
            throw TopicNameError(
                reason: "a topic's name has letters, digits and - _ . ~ % only, and no \"\(wrong)\"")
        }
        text = String(name)
    }

    /// The name under which the subscribers of a broadcast channel are kept. No topic of FCM can have it.
    package init(channel: String, app: AppID, environment: PushEnvironment) {
        text = "channel/\(app.rawValue)/\(environment.rawValue)/\(channel)"
    }

    /// The name as a message's `from` has it: `/topics/NAME`.
    package var description: String { Self.prefix + text }

    private static func isNameCharacter(_ character: Character) -> Bool {
        guard let byte = character.asciiValue else { return false }
        return switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: "~"), UInt8(ascii: "%"):
            true
        default: false
        }
    }
}

/// Why a text is no name of a topic.
package struct TopicNameError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The fault in the name, as a sentence for people.
    package let reason: String
    package var description: String { reason }
}

/// The number of a topic in a store.
package struct TopicNumber: Hashable, Sendable, RawRepresentable {
    /// The number as the store holds it.
    package let rawValue: Int64
    /// Takes a number as it is.
    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// The number of all registrations, whatever topics they have. A broadcast that reaches those who are in no topic
    /// is found under it.
    package static let everyone = TopicNumber(rawValue: 0)
    /// The number of a topic without subscribers.
    package static let nobody = TopicNumber(rawValue: -1)
}
