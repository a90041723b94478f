import PushCore

/// The frames in which a push can travel: the first byte of each.
package enum LegacyCommand: UInt8, Sendable, CaseIterable {
    /// Token and payload.
    case simple = 0
    /// Also an identifier and an expiry.
    case enhanced = 1
    /// Items, each with its length; also a priority.
    case items = 2
}

/// A push as the binary interface carries it; only its sizes are checked.
package struct LegacyPush: Hashable, Sendable {
    /// The identifier by which an error names the push; 0 where the frame has none.
    package var identifier: UInt32
    /// The device token, 32 bytes.
    package var token: [UInt8]
    /// The payload, 1 to ``maximumPayload`` bytes.
    package var payload: [UInt8]
    /// Seconds since 1970 until which delivery makes sense; 0 for one attempt, `nil` where the frame has none.
    package var expiration: UInt32?
    /// `nil` where the frame has none, which is ``Priority/immediate``.
    package var priority: Priority?

    /// The bytes that a payload may have.
    package static let maximumPayload = 2048
    /// The bytes of every device token.
    package static let tokenLength = 32

    /// Makes a push; nothing is checked.
    package init(
        identifier: UInt32 = 0, token: [UInt8], payload: [UInt8], expiration: UInt32? = nil, priority: Priority? = nil
    ) {
        self.identifier = identifier
        self.token = token
        self.payload = payload
        self.expiration = expiration
        self.priority = priority
    }

    /// The time of expiry, in the model's terms.
    package var expiry: Expiry {
        switch expiration {
        case nil: .policyDefault
        case 0?: .once
        case let seconds?: .until(Timestamp(seconds: Int64(seconds)))
        }
    }

    /// Writes the frame of a command. What the command has no place for is left out.
    package func frame(_ command: LegacyCommand) -> [UInt8] {
        func sized(_ bytes: [UInt8]) -> [UInt8] {
            BigEndian.bytes(UInt16(clamping: bytes.count)) + bytes.prefix(Int(UInt16.max))
        }
        switch command {
        case .simple: return [0] + sized(token) + sized(payload)
        case .enhanced:
            return [1] + BigEndian.bytes(identifier) + BigEndian.bytes(expiration ?? 0) + sized(token) + sized(payload)
        case .items:
            var items = [1] + sized(token) + [2] + sized(payload) + [3] + sized(BigEndian.bytes(identifier))
            if let expiration { items += [4] + sized(BigEndian.bytes(expiration)) }
            if let priority { items += [5] + sized([priority.rawValue]) }
            return [2] + BigEndian.bytes(UInt32(clamping: items.count)) + items
        }
    }
}
