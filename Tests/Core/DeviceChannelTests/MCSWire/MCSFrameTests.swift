import DeviceChannel
import PushCore
import Testing

/// Everything that a decoder says about bytes that come in pieces; ends at the first error.
private func decode(_ pieces: [[UInt8]], maximumSize: Int = 1 << 20) -> ([MCSFrameDecoder.Element], MCSFrameError?) {
    var decoder = MCSFrameDecoder(maximumSize: maximumSize)
    var elements: [MCSFrameDecoder.Element] = []
    do throws(MCSFrameError) {
        for piece in pieces {
            decoder.append(piece)
            while let element = try decoder.next() { elements.append(element) }
        }
        return (elements, nil)
    } catch {
        return (elements, error)
    }
}

/// The packet of a fixture that is one packet without the version byte.
func packet(_ name: String) throws -> MCSPacket {
    let (elements, error) = decode([[41], try fixture(name)])
    #expect(error == nil)
    guard elements.count == 2, case .packet(let packet) = elements[1] else {
        throw FixtureError.notOnePacket(name)
    }
    return packet
}

enum FixtureError: Error { case notOnePacket(String) }

@Suite struct MCSFrameTests {
    static let oneTagEach: [(String, MCSTag)] = [
        ("login", .loginRequest), ("login-response", .loginResponse), ("login-error", .loginResponse),
        ("ping", .heartbeatPing), ("ping-with-last", .heartbeatPing), ("heartbeat-ack", .heartbeatAck),
        ("close", .close), ("stream-ack", .iqStanza), ("selective-ack", .iqStanza),
        ("stream-error", .streamErrorStanza), ("notification", .dataMessageStanza), ("receipts", .dataMessageStanza),
        ("long", .dataMessageStanza),
    ]

    @Test(arguments: oneTagEach)
    func `a packet that another hand encoded is read and written again unchanged`(name: String, tag: MCSTag) throws {
        let packet = try packet(name)
        #expect(packet.tag == tag)
        var bytes: [UInt8] = []
        try packet.encode(into: &bytes)
        #expect(try bytes == fixture(name))
    }

    @Test func `a session that comes in one piece is read whole and leaves nothing behind`() throws {
        var decoder = MCSFrameDecoder()
        decoder.append(try fixture("session"))
        var tags: [MCSTag] = []
        while let element = try decoder.next() {
            switch element {
            case .version(let version): #expect(version == 41)
            case .packet(let packet): tags.append(packet.tag)
            }
        }
        #expect(
            tags == [
                .loginRequest, .heartbeatPing, .iqStanza, .dataMessageStanza, .iqStanza, .dataMessageStanza, .close,
            ])
        #expect(decoder.heldByteCount == 0)
    }

    @Test func `a session is read the same when it is split in two at any byte`() throws {
        let bytes = try fixture("session")
        let (whole, _) = decode([bytes])
        for split in 1..<bytes.count {
            let (elements, error) = decode([Array(bytes[..<split]), Array(bytes[split...])])
            #expect(error == nil && elements == whole, "split at \(split)")
        }
    }

    @Test func `a session is read the same when every byte comes alone`() throws {
        let bytes = try fixture("session")
        #expect(decode(bytes.map { [$0] }).0 == decode([bytes]).0)
    }

    static let refused: [(String, [UInt8], MCSFrameError)] = [
        ("an unknown tag", [41, 16, 0], .unknownTag(16)),
        ("a size varint of six bytes", [41, 8, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01], .malformedSize),
        ("a size beyond 32 bits", [41, 8, 0xFF, 0xFF, 0xFF, 0xFF, 0x10], .malformedSize),
        ("a size just over the limit", [41, 8, 0x81, 0x80, 0x40], .tooLarge(size: 1_048_577, limit: 1_048_576)),
        ("the largest size of all", [41, 8, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F], .tooLarge(size: .max, limit: 1_048_576)),
        ("a body that is no message", [41, 8, 2, 0x0A, 0x7F], .malformedBody(.dataMessageStanza)),
        ("a close with a broken body", [41, 4, 1, 0xFF], .malformedBody(.close)),
    ]

    @Test(arguments: refused)
    func `what breaks the framing is refused with its name`(name: String, bytes: [UInt8], expected: MCSFrameError) {
        #expect(decode([bytes]).1 == expected, "\(name)")
        #expect(decode(bytes.map { [$0] }).1 == expected, "\(name), byte by byte")
    }

    @Test func `an error stays, whatever comes after it`() {
        var decoder = MCSFrameDecoder()
        decoder.append([41, 99])
        #expect(throws: Never.self) { _ = try decoder.next() }
        #expect(throws: MCSFrameError.unknownTag(99)) { _ = try decoder.next() }
        decoder.append([0, 0])
        #expect(throws: MCSFrameError.unknownTag(99)) { _ = try decoder.next() }
        #expect(decoder.heldByteCount == 0)
    }

    @Test func `what no reader would take is not written`() {
        var stanza = MCSDataMessageStanza()
        stanza.category = String(repeating: "x", count: 200)
        var bytes: [UInt8] = [7]
        #expect(throws: MCSFrameError.tooLarge(size: 203, limit: 100)) {
            try MCSPacket.dataMessage(stanza).encode(into: &bytes, maximumSize: 100)
        }
        #expect(bytes == [7])
    }

    @Test func `random bytes end in elements or an error and never in a trap`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...80, using: &random)).map { _ in UInt8.random(in: 0...20, using: &random)
            }
            _ = decode([[41] + bytes])
        }
    }

    @Test(arguments: [(UInt8(37), false), (38, true), (39, false), (40, true), (41, true), (255, true), (0, false)])
    func `a version can be served if clients of it are known`(version: UInt8, supported: Bool) {
        #expect(MCSVersion.isSupported(version) == supported)
    }
}
