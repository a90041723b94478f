import PushCore

extension OutgoingNotification {
    /// Appends the packet that carries the notification.
    ///
    /// The bytes are those that ``MCSDataMessageStanza/init(_:now:)`` and ``MCSPacket/encode(into:maximumSize:)`` make,
    /// without the message in between: it is the packet that a server sends most often.
    ///
    /// - Parameters:
    ///   - lastStreamID: The stream id that the packet acknowledges.
    ///   - now: The moment of writing; the stanza's `queued` counts from the acceptance to it.
    /// - Throws: `MCSFrameError.tooLarge`; nothing was appended then.
    package func encodePacket(
        into bytes: inout [UInt8], lastStreamID: Int32, now: Timestamp, maximumSize: Int = MCSFrame.defaultMaximumSize
    ) throws(MCSFrameError) {
        guard notice == nil else {
            var stanza = MCSDataMessageStanza(self, now: now)
            stanza.lastStreamIDReceived = lastStreamID
            return try MCSPacket.dataMessage(stanza).encode(into: &bytes, maximumSize: maximumSize)
        }
        let start = bytes.count
        // Strings and keys beside the payload are less than this together, or the array grows once more.
        bytes.reserveCapacity(start + payload.count + 512)
        bytes.append(MCSTag.dataMessageStanza.rawValue)
        // Reserves the expected length of the size: one byte below 128, two below 16,384, ...
        let sizeLength = payload.count + 300 < 128 ? 1 : payload.count + 300 < 16_384 ? 2 : 3
        bytes.append(contentsOf: repeatElement(0, count: sizeLength))
        let bodyStart = bytes.count
        appendBody(to: &bytes, lastStreamID: lastStreamID, now: now)
        let size = bytes.count - bodyStart
        guard size <= maximumSize else {
            bytes.removeSubrange(start...)
            throw .tooLarge(size: UInt32(clamping: size), limit: maximumSize)
        }
        let length = Protobuf.varintLength(UInt64(size))
        if length != sizeLength {
            bytes.replaceSubrange(bodyStart - sizeLength..<bodyStart, with: repeatElement(0, count: length))
        }
        var rest = size
        for index in start + 1..<start + length {
            bytes[index] = UInt8(truncatingIfNeeded: rest) | 0x80
            rest >>= 7
        }
        bytes[start + length] = UInt8(truncatingIfNeeded: rest)
    }

    /// The stanza's fields in the order of their numbers, as SwiftProtobuf writes them.
    private func appendBody(to bytes: inout [UInt8], lastStreamID: Int32, now: Timestamp) {
        let name = id.description
        Protobuf.append(2, name, to: &bytes)
        Protobuf.append(3, team.rawValue, to: &bytes)
        Protobuf.append(5, topic.rawValue, to: &bytes)
        if let collapseID { Protobuf.append(6, collapseID, to: &bytes) }
        appendAppData(MCSKey.apnsID, apnsID.rawValue, to: &bytes)
        appendAppData(MCSKey.priority, String(priority.rawValue), to: &bytes)
        appendAppData(MCSKey.environment, environment.rawValue, to: &bytes)
        appendAppData(MCSKey.accepted, String(acceptedAt.rawValue), to: &bytes)
        if let pushType { appendAppData(MCSKey.pushType, pushType.rawValue, to: &bytes) }
        if let expiresAt { appendAppData(MCSKey.expiration, String(expiresAt.rawValue), to: &bytes) }
        if lane == .fcm { appendAppData(MCSKey.lane, "fcm", to: &bytes) }
        Protobuf.append(9, name, to: &bytes)
        Protobuf.append(11, Int64(lastStreamID), to: &bytes)
        let ttl = expiresAt.map { MCSDataMessageStanza.wholeSeconds(from: acceptedAt, to: $0) } ?? 0
        Protobuf.append(17, Int64(ttl), to: &bytes)
        Protobuf.append(18, acceptedAt.rawValue, to: &bytes)
        Protobuf.append(19, Int64(MCSDataMessageStanza.wholeSeconds(from: acceptedAt, to: now)), to: &bytes)
        Protobuf.appendKey(21, wireType: 2, to: &bytes)
        Protobuf.appendVarint(UInt64(payload.count), to: &bytes)
        bytes.append(contentsOf: payload)
    }

    private func appendAppData(_ key: String, _ value: String, to bytes: inout [UInt8]) {
        let (keyLength, valueLength) = (key.utf8.count, value.utf8.count)
        let length =
            2 + Protobuf.varintLength(UInt64(keyLength)) + keyLength + Protobuf.varintLength(UInt64(valueLength))
            + valueLength
        Protobuf.appendKey(7, wireType: 2, to: &bytes)
        Protobuf.appendVarint(UInt64(length), to: &bytes)
        Protobuf.append(1, key, to: &bytes)
        Protobuf.append(2, value, to: &bytes)
    }
}

/// The few rules of protobuf's wire format that fields of known types need (Protocol Buffers, "Encoding").
enum Protobuf {
    static func appendVarint(_ value: UInt64, to bytes: inout [UInt8]) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// The varint at an index, which is moved behind it; `nil` where it does not end, or has more than 64 bits.
    static func varint(in bytes: [UInt8], at index: inout Int) -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: 0 as UInt64, to: 64, by: 7) {
            guard index < bytes.count else { return nil }
            let byte = bytes[index]
            index += 1
            guard shift < 63 || byte < 2 else { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }

    static func varintLength(_ value: UInt64) -> Int { max(1, (64 - value.leadingZeroBitCount + 6) / 7) }

    static func appendKey(_ field: Int, wireType: Int, to bytes: inout [UInt8]) {
        appendVarint(UInt64(field << 3 | wireType), to: &bytes)
    }

    /// A field of a whole number; a negative one takes ten bytes.
    static func append(_ field: Int, _ value: Int64, to bytes: inout [UInt8]) {
        appendKey(field, wireType: 0, to: &bytes)
        appendVarint(UInt64(bitPattern: value), to: &bytes)
    }

    /// A field of text.
    static func append(_ field: Int, _ value: String, to bytes: inout [UInt8]) {
        appendKey(field, wireType: 2, to: &bytes)
        appendVarint(UInt64(value.utf8.count), to: &bytes)
        bytes.append(contentsOf: value.utf8)
    }
}
