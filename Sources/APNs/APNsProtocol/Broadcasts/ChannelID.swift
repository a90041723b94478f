import Foundation

/// The id of a broadcast channel: 16 bytes, in base64 on the wire.
///
/// Source: Apple, "Sending channel management requests to APNs". Ids are random, and are not used again.
package struct ChannelID: Hashable, Sendable, CustomStringConvertible {
    /// The 16 bytes.
    package let bytes: [UInt8]

    /// Takes 16 bytes; `nil` for any other number of them.
    package init?(bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
        guard self.bytes.count == 16 else { return nil }
    }

    /// Reads the id's base64; `nil` for anything else.
    package init?(text: String) {
        guard text.utf8.count == 24, let data = Data(base64Encoded: text) else { return nil }
        self.init(bytes: data)
    }

    /// Makes an id of random bytes.
    package static func random(using generator: inout some RandomNumberGenerator) -> ChannelID {
        let halves: [UInt64] = [generator.next(), generator.next()]
        let bytes = halves.flatMap { half in withUnsafeBytes(of: half.bigEndian, Array.init) }
        guard let id = ChannelID(bytes: bytes) else { preconditionFailure("two numbers of 64 bits have 16 bytes") }
        return id
    }

    /// The base64 of the bytes, 24 characters.
    package var description: String { Data(bytes).base64EncodedString() }
}

/// The messages that APNs keeps for devices that are not connected.
package enum ChannelStoragePolicy: Int, Sendable, CaseIterable {
    /// None: a message reaches the devices that are connected.
    case noMessageStored = 0
    /// The most recent message, until it expires, at most for eight hours.
    case mostRecentMessageStored = 1
}
