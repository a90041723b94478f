import DeviceChannel
import Foundation
import Testing

/// Sizes and kinds of packets, at every border: what the tests of Chromium's connection handler call long messages, varints
/// that are split over reads, and invalid tags.
@Suite struct MCSSizeTests {
    /// A varint of a number of bytes, longer than it must be where there are too many.
    private static func varint(_ value: Int, bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(value >> (7 * $0) & 0x7F) | ($0 < bytes - 1 ? 0x80 : 0) }
    }

    private func elements(_ pieces: [[UInt8]], maximumSize: Int = 1 << 20) throws(MCSFrameError)
        -> [MCSFrameDecoder.Element]
    {
        var decoder = MCSFrameDecoder(maximumSize: maximumSize)
        var elements: [MCSFrameDecoder.Element] = []
        for piece in pieces {
            decoder.append(piece)
            while let element = try decoder.next() { elements.append(element) }
        }
        #expect(decoder.heldByteCount == 0)
        return elements
    }

    @Test(arguments: 1...5)
    func `a size in any number of bytes is the same size`(bytes: Int) throws {
        let empty: [UInt8] = [41, 4] + Self.varint(0, bytes: bytes)
        #expect(try elements([empty]) == [.version(41), .packet(.close)])
        var ping = MCSHeartbeatPing()
        ping.lastStreamIDReceived = 7
        let body: [UInt8] = try ping.serializedBytes()
        let packet = [41, 0] + Self.varint(body.count, bytes: bytes) + body
        for cut in 0...packet.count {
            #expect(
                try elements([Array(packet[..<cut]), Array(packet[cut...])])
                    == [.version(41), .packet(.heartbeatPing(ping))])
        }
    }

    @Test func `a size of six bytes, and one beyond 32 bits, is no size`() {
        #expect(throws: MCSFrameError.malformedSize) {
            try elements([[41, 4, 0x80, 0x80, 0x80, 0x80, 0x80, 0]])
        }
        #expect(throws: MCSFrameError.malformedSize) { try elements([[41, 4, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F]]) }
    }

    @Test(arguments: [126, 127, 128, 4_095, 4_096, 8_193, 16_383, 16_384, 70_000, 1 << 20])
    func `a message of any length is read whole, in two parts, and twice in one read`(size: Int) throws {
        let bytes = try message(ofSize: size)
        let expected = try elements([[41] + bytes])
        #expect(expected.count == 2)
        let border = [1, 2, 3, 4, 5, bytes.count / 2, bytes.count - 1]
        for cut in border { #expect(try elements([[41] + bytes[..<cut], Array(bytes[cut...])]) == expected) }
        #expect(try elements([[41] + bytes + bytes]) == expected + expected.dropFirst())
    }

    @Test func `a limit is what is taken, and one more is refused before its body comes`() throws {
        let bytes = try message(ofSize: 1000)
        #expect(try elements([[41] + bytes], maximumSize: 1000).count == 2)
        #expect(throws: MCSFrameError.tooLarge(size: 1000, limit: 999)) {
            try elements([[41] + bytes.prefix(3)], maximumSize: 999)
        }
    }

    @Test(arguments: [5, 6, 9, 11, 12, 13, 14, 15] as [UInt8])
    func `packets that are not used any more are packets`(tag: UInt8) throws {
        let kind = try #require(MCSTag(rawValue: tag))
        #expect(
            try elements([[41, tag, 3, 0xFF, 0xFF, 0xFF, 4, 0]])
                == [.version(41), .packet(.historic(kind)), .packet(.close)])
        var bytes: [UInt8] = []
        try MCSPacket.historic(kind).encode(into: &bytes)
        #expect(bytes == [tag, 0])
    }

    @Test func `every other tag is refused by its number`() {
        for tag in UInt8(16)...255 {
            #expect(throws: MCSFrameError.unknownTag(tag)) { try elements([[41, tag, 0]]) }
        }
    }

    /// A data stanza whose body has so many bytes.
    private func message(ofSize size: Int) throws -> [UInt8] {
        var stanza = MCSDataMessageStanza()
        stanza.rawData = Data(repeating: 7, count: size)
        var excess = (try stanza.serializedBytes() as [UInt8]).count - size
        while excess > 0 {
            stanza.rawData.removeLast(excess)
            excess = (try stanza.serializedBytes() as [UInt8]).count - size
        }
        // Where the field's own size has a byte less now, another field makes it up.
        while (try stanza.serializedBytes() as [UInt8]).count < size {
            stanza.category += stanza.hasCategory ? "x" : ""
            if (try stanza.serializedBytes() as [UInt8]).count > size { stanza.rawData.removeLast() }
        }
        var bytes: [UInt8] = []
        try MCSPacket.dataMessage(stanza).encode(into: &bytes)
        return bytes
    }
}
