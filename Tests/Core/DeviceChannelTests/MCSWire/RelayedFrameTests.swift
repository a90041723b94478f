import Foundation
import SwiftProtobuf
import Testing

@testable import DeviceChannel

/// What devices relay, whose coding is written out, beside SwiftProtobuf's.
@Suite struct RelayedFrameTests {
    /// The same as a stanza.
    private static func stanza(_ frame: [UInt8], last: Int32? = nil) -> MCSDataMessageStanza {
        var stanza = MCSDataMessageStanza()
        stanza.from = "aldaba"
        stanza.to = "aldaba"
        stanza.category = "aldaba.relay"
        stanza.rawData = Data(frame)
        if let last { stanza.lastStreamIDReceived = last }
        return stanza
    }

    private static func decoded(_ bytes: [UInt8]) throws -> MCSPacket? {
        var decoder = MCSFrameDecoder()
        decoder.append([41] + bytes)
        _ = try decoder.next()
        guard case .packet(let packet)? = try decoder.next() else { return nil }
        return packet
    }

    @Test(
        "The bytes are SwiftProtobuf's, and are read back",
        arguments: [0, 1, 100, 127, 128, 16_383, 16_384, 70_000], [nil, 0, 1, 127, 128, Int32.max, -1])
    func coding(size: Int, last: Int32?) throws {
        let frame = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
        var packet = MCSPacket.relayed(MCSRelayedFrame(frame))
        packet.lastStreamIDReceived = last
        var bytes: [UInt8] = []
        try packet.encode(into: &bytes, maximumSize: 1 << 20)
        var expected: [UInt8] = []
        try MCSPacket.dataMessage(Self.stanza(frame, last: last)).encode(into: &expected, maximumSize: 1 << 20)
        #expect(bytes == expected)
        #expect(try Self.decoded(bytes) == packet)
    }

    @Test("A stanza of another writer, with other fields or in another order, is read as well")
    func otherWriters() throws {
        var stanza = Self.stanza([1, 2, 3], last: 7)
        stanza.persistentID = "x"
        stanza.from = "9"
        var bytes: [UInt8] = []
        try MCSPacket.dataMessage(stanza).encode(into: &bytes)
        var frame = MCSRelayedFrame([1, 2, 3])
        frame.lastStreamIDReceived = 7
        #expect(try Self.decoded(bytes) == .relayed(frame))
        stanza.category = "another"
        bytes = []
        try MCSPacket.dataMessage(stanza).encode(into: &bytes)
        #expect(try Self.decoded(bytes) == .dataMessage(stanza))
    }

    @Test("Bytes that were cut or changed are what SwiftProtobuf says of them")
    func changedBytes() throws {
        let body: [UInt8] = try Self.stanza([9, 8, 0x80, 7], last: 300).serializedBytes()
        let cut = (0..<body.count).map { Array(body[..<$0]) }
        let changed = (0..<body.count).flatMap { index in
            [0x00, 0x01, 0x7F, 0x80, 0xFF].map { (value: UInt8) in
                var other = body
                other[index] = value
                return other
            }
        }
        for other in cut + changed + [body + [0], body + body] {
            guard let stanza = try? MCSDataMessageStanza(serializedBytes: other) else {
                #expect(throws: MCSFrameError.malformedBody(.dataMessageStanza)) {
                    try MCSPacket.decode(.dataMessageStanza, other)
                }
                continue
            }
            let expected = MCSRelayedFrame(stanza).map(MCSPacket.relayed) ?? .dataMessage(stanza)
            #expect(try MCSPacket.decode(.dataMessageStanza, other) == expected)
        }
    }

    @Test("A frame beyond the largest packet is refused, and nothing is written")
    func tooLarge() throws {
        var bytes: [UInt8] = [1]
        let packet = MCSPacket.relayed(MCSRelayedFrame([UInt8](repeating: 0, count: 100)))
        #expect(throws: MCSFrameError.self) { try packet.encode(into: &bytes, maximumSize: 100) }
        #expect(bytes == [1])
    }
}
