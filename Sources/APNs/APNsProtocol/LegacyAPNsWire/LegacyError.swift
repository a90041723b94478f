/// Why the gateway ends a connection: the second byte of the error packet.
package enum LegacyStatus: UInt8, Sendable, CaseIterable {
    /// Nothing was wrong.
    case noError = 0
    /// The server could not take the push now; sending it again is right.
    case processingError = 1
    /// The push has no device token.
    case missingDeviceToken = 2
    /// The certificate has no topic that is an app.
    case missingTopic = 3
    /// The push has no payload.
    case missingPayload = 4
    /// The device token has not 32 bytes.
    case invalidTokenSize = 5
    /// The topic is too long.
    case invalidTopicSize = 6
    /// The payload is too long.
    case invalidPayloadSize = 7
    /// The device token is none of this server's, or of another app or environment.
    case invalidToken = 8
    /// The server stops; the identifier is that of the last push that was taken.
    case shutdown = 10
    /// The bytes are no frame.
    case protocolError = 128
    /// Anything else; sending the same again is of no use.
    case unknown = 255
}

/// An error packet: the six bytes after which the gateway ends the connection.
///
/// What came before the push that it names was taken, that push and what came after it was not. With
/// ``LegacyStatus/shutdown`` the push that it names was taken too.
package struct LegacyError: Error, Hashable, Sendable {
    /// The status that names the error.
    package var status: LegacyStatus
    /// The identifier of the push; 0 where the push has none.
    package var identifier: UInt32
    /// The fault and the expected value, for logs and timelines; not sent to the provider.
    package var note: String

    /// Makes an error about the push of an identifier.
    package init(_ status: LegacyStatus, identifier: UInt32 = 0, note: String = "") {
        self.status = status
        self.identifier = identifier
        self.note = note
    }

    /// Command 8, status, identifier.
    package var packet: [UInt8] { [8, status.rawValue] + BigEndian.bytes(identifier) }

    /// Reads an error packet; `nil` for anything else than six bytes of one.
    package init?(packet: some Collection<UInt8>) {
        let bytes = Array(packet)
        guard bytes.count == 6, bytes[0] == 8, let status = LegacyStatus(rawValue: bytes[1]) else { return nil }
        self.init(status, identifier: BigEndian.number(bytes[2...]))
    }
}

/// A tuple of the feedback service: a device token that is dead, and since when.
package struct LegacyFeedback: Hashable, Sendable {
    /// Seconds since 1970 at which the token ended.
    package var seconds: UInt32
    /// The device token's 32 bytes.
    package var token: [UInt8]

    /// Makes a tuple.
    package init(seconds: UInt32, token: [UInt8]) {
        self.seconds = seconds
        self.token = token
    }

    /// The seconds, the token's length in two bytes, and the token.
    package var bytes: [UInt8] {
        BigEndian.bytes(seconds) + BigEndian.bytes(UInt16(clamping: token.count)) + token.prefix(Int(UInt16.max))
    }
}

/// Numbers in network order.
enum BigEndian {
    static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    /// The number of at most four bytes.
    static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
}
