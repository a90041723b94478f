/// A framing error. Each ends the connection, since the bytes after it have no meaning.
package enum MCSFrameError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A packet announced, or would have, more bytes than the limit.
    case tooLarge(size: UInt32, limit: Int)
    /// The size is not a varint of at most five bytes and 32 bits.
    case malformedSize
    /// A packet begins with a byte that is no ``MCSTag``.
    case unknownTag(UInt8)
    /// The body is not the protobuf message that the tag announces.
    case malformedBody(MCSTag)

    package var description: String {
        switch self {
        case .tooLarge(let size, let limit): "packet of \(size) bytes; at most \(limit) are allowed"
        case .malformedSize: "packet size is not a varint of at most 32 bits"
        case .unknownTag(let tag): "unknown packet tag \(tag)"
        case .malformedBody(let tag): "body of a \(tag) packet is not its protobuf message"
        }
    }
}

/// The byte in front of each packet.
package enum MCSTag: UInt8, Sendable, CaseIterable {
    /// Asks the other side whether it is there.
    case heartbeatPing = 0
    /// Answers a ping.
    case heartbeatAck = 1
    /// The device's first packet: its id, its secret and what it has.
    case loginRequest = 2
    /// The server's verdict on a login.
    case loginResponse = 3
    /// The sender ends the connection.
    case close = 4
    /// Acknowledgements; an IQ packet that is none is passed over.
    case iqStanza = 7
    /// A notification to the device, or receipts from it.
    case dataMessageStanza = 8
    /// Why the sender ends the stream.
    case streamErrorStanza = 10

    // Names from before the device channel was what it is. No client sends them; they are packets all the same.
    /// Not used any more.
    case messageStanza = 5
    /// Not used any more.
    case presenceStanza = 6
    /// Not used any more.
    case batchPresenceStanza = 9
    /// Not used any more.
    case httpRequest = 11
    /// Not used any more.
    case httpResponse = 12
    /// Not used any more.
    case bindAccountRequest = 13
    /// Not used any more.
    case bindAccountResponse = 14
    /// Not used any more.
    case talkMetadata = 15
}

/// The version byte that each side sends once, before its first packet.
package enum MCSVersion {
    /// The version that Aldaba's own client sends.
    package static let current: UInt8 = 41

    /// Whether a peer's version can be served: 38, and everything from 40 on. The server mirrors it, because
    /// some clients accept only their own.
    package static func isSupported(_ version: UInt8) -> Bool { version == 38 || version >= 40 }
}

/// Limits of the framing.
package enum MCSFrame {
    /// The largest body that is read or written unless a decoder has another limit: 1 MiB.
    package static let defaultMaximumSize = 1 << 20
}
