import Foundation

/// Bytes about relaying, which this protocol only carries; on the wire as text in base64.
public struct RelayPacket: Codable, Hashable, Sendable {
    /// What `RelayWire` reads.
    public var frame: Data

    /// Carries these bytes.
    public init(_ frame: [UInt8]) { self.frame = Data(frame) }
}

// Neither a log nor a dump of what holds one shows what it carries: an account's key may be among it.
extension RelayPacket: CustomReflectable {
    /// How many bytes there are, and none of them.
    public var customMirror: Mirror { Mirror(self, children: ["byteCount": frame.count], displayStyle: .struct) }
}

/// The message of a packet as text. Packets come often and have one member, so that no coder is asked for what it would write.
extension RelayPacket {
    private static let opening = Array(#"{"frame":""#.utf8)
    private static let closing = Array(#"","type":"relay"}"#.utf8)

    /// The JSON text of the message that carries the packet, byte for byte as `JSONEncoder` writes it.
    var text: [UInt8] { Self.opening + frame.base64EncodedData() + Self.closing }

    /// Reads a text as ``text`` has it.
    ///
    /// - Returns: `nil` for any other text, which may be the same message written in another way.
    init?(text: [UInt8]) {
        guard text.count >= Self.opening.count + Self.closing.count, text.starts(with: Self.opening),
            text.suffix(Self.closing.count).elementsEqual(Self.closing),
            let frame = Data(base64Encoded: Data(text[Self.opening.count..<(text.count - Self.closing.count)]))
        else { return nil }
        self.frame = frame
    }
}
