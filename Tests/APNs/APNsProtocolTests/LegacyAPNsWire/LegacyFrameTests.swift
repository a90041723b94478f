import APNsProtocol
import AldabaTestSupport
import PushCore
import Testing

@Suite struct LegacyFrameTests {
    static let token = Array(UInt8(0)..<32)
    static let payload = Array(#"{"aps":{"alert":"Hi"}}"#.utf8)

    private struct Reading {
        var pushes: [LegacyPush] = []
        var error: LegacyError?
    }

    private func read(_ bytes: [UInt8], in size: Int? = nil) -> Reading {
        var decoder = LegacyFrameDecoder()
        var reading = Reading()
        var rest = bytes[...]
        do throws(LegacyError) {
            while !rest.isEmpty {
                decoder.append(rest.prefix(size ?? rest.count))
                rest = rest.dropFirst(size ?? rest.count)
                while let push = try decoder.next() { reading.pushes.append(push) }
            }
        } catch {
            reading.error = error
        }
        return reading
    }

    private static func item(_ id: UInt8, _ data: [UInt8]) -> [UInt8] {
        [id, UInt8(data.count >> 8), UInt8(truncatingIfNeeded: data.count)] + data
    }

    private static func items(_ items: [[UInt8]]) -> [UInt8] {
        let body = items.flatMap { $0 }
        return [2, 0, 0, UInt8(body.count >> 8), UInt8(truncatingIfNeeded: body.count)] + body
    }

    @Test func `each command's frame is read as Apple lays it out`() {
        let simple: [UInt8] = [0, 0, 32] + Self.token + [0, UInt8(Self.payload.count)] + Self.payload
        let enhanced: [UInt8] =
            [1, 0, 0, 1, 2, 0x71, 0x3F, 0xB3, 0, 0, 32] + Self.token + [0, UInt8(Self.payload.count)] + Self.payload
        let items = Self.items([
            Self.item(5, [5]), Self.item(2, Self.payload), Self.item(1, Self.token), Self.item(4, [0, 0, 0, 0]),
            Self.item(3, [0, 0, 0, 9]),
        ])
        #expect(
            read(simple + enhanced + items).pushes == [
                LegacyPush(token: Self.token, payload: Self.payload),
                LegacyPush(identifier: 258, token: Self.token, payload: Self.payload, expiration: 1_900_000_000),
                LegacyPush(
                    identifier: 9, token: Self.token, payload: Self.payload, expiration: 0, priority: .considerate),
            ])
    }

    @Test(
        arguments: [(nil, Expiry.policyDefault), (0, .once), (60, .until(Timestamp(seconds: 60)))]
            as [(UInt32?, Expiry)])
    func `an expiry says what the header of today says`(seconds: UInt32?, expiry: Expiry) {
        #expect(LegacyPush(token: Self.token, payload: Self.payload, expiration: seconds).expiry == expiry)
    }

    @Test(arguments: LegacyCommand.allCases)
    func `frames that arrive in pieces are read as they are whole`(command: LegacyCommand) {
        var expected = LegacyPush(
            identifier: 7, token: Self.token, payload: Self.payload, expiration: 1_900_000_000,
            priority: command == .items ? .considerate : nil)
        if command == .simple { (expected.identifier, expected.expiration) = (0, nil) }
        let bytes = expected.frame(command) + expected.frame(command)
        for size in 1...bytes.count {
            let reading = read(bytes, in: size)
            #expect(reading.pushes == [expected, expected], "pieces of \(size)")
            #expect(reading.error == nil)
        }
    }

    /// One frame that is refused.
    struct Refused: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var bytes: [UInt8]
        var status: LegacyStatus
        var identifier: UInt32

        init(_ name: String, _ bytes: [UInt8], _ status: LegacyStatus, _ identifier: UInt32 = 0) {
            (testDescription, self.bytes, self.status, self.identifier) = (name, bytes, status, identifier)
        }

        static let token = item(1, LegacyFrameTests.token)
        static let payload = item(2, LegacyFrameTests.payload)
        static let identifier = item(3, [0, 0, 0, 9])
        static let long = [UInt8](repeating: 0x20, count: 2049)

        static let all = [
            Refused("command 3", [3], .protocolError), Refused("HTTP", Array("POST / HTTP/1.1".utf8), .protocolError),
            Refused("no token", [0, 0, 0], .missingDeviceToken),
            Refused("a token in hexadecimal digits", [1, 0, 0, 0, 9, 0, 0, 0, 0, 0, 64], .invalidTokenSize, 9),
            Refused("no payload", [0, 0, 32] + LegacyFrameTests.token + [0, 0], .missingPayload),
            Refused(
                "a long payload", [1, 0, 0, 0, 9, 0, 0, 0, 0, 0, 32] + LegacyFrameTests.token + [8, 1],
                .invalidPayloadSize, 9),
            Refused("a long payload item", items([token, item(2, long), identifier]), .invalidPayloadSize, 9),
            Refused("no token item", items([payload, identifier]), .missingDeviceToken, 9),
            Refused("no payload item", items([token, identifier]), .missingPayload, 9),
            Refused("a short token item", items([item(1, [1, 2]), payload, identifier]), .invalidTokenSize, 9),
            Refused("an unknown item", items([item(6, [1]), token, payload, identifier]), .protocolError, 9),
            Refused("two tokens", items([token, token, payload, identifier]), .protocolError, 9),
            Refused("a short identifier", items([token, payload, item(3, [9])]), .protocolError),
            Refused("priority 1", items([token, payload, identifier, item(5, [1])]), .protocolError, 9),
            Refused("a long priority", items([token, payload, identifier, item(5, [0, 10])]), .protocolError, 9),
            Refused("an item beyond its frame", items([identifier, [1, 0, 32, 5]]), .protocolError, 9),
            Refused("a frame without end", [2, 0xFF, 0xFF, 0xFF, 0xFF], .invalidPayloadSize),
        ]
    }

    @Test(arguments: Refused.all)
    func `what is no push is refused with its identifier, whatever pieces it arrives in`(refused: Refused) {
        let before = LegacyPush(identifier: 1, token: Self.token, payload: Self.payload)
        for size in [1, 2, 3, 7, 5000] {
            let reading = read(before.frame(.enhanced) + refused.bytes + before.frame(.enhanced), in: size)
            #expect(reading.pushes.count == 1)
            #expect(reading.error?.status == refused.status)
            #expect(reading.error?.identifier == refused.identifier)
        }
    }

    @Test func `frames with edits in them are read in pieces as they are whole`() {
        var numbers = SeededGenerator(seed: 7)
        let right = LegacyCommand.allCases.flatMap {
            LegacyPush(identifier: 7, token: Self.token, payload: Self.payload, expiration: 9).frame($0)
        }
        for _ in 0..<3000 {
            var bytes = right
            for _ in 0..<Int.random(in: 1...3, using: &numbers) {
                let index = Int.random(in: 0..<bytes.count, using: &numbers)
                switch Int.random(in: 0..<3, using: &numbers) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &numbers)
                case 1: bytes.remove(at: index)
                default: bytes.insert(UInt8.random(in: 0...9, using: &numbers), at: index)
                }
            }
            let (whole, pieces) = (read(bytes), read(bytes, in: Int.random(in: 1...40, using: &numbers)))
            #expect(pieces.pushes == whole.pushes && pieces.error == whole.error)
            for push in whole.pushes { #expect(read(push.frame(.items)).pushes == [push]) }
        }
    }

    @Test func `the longest payload passes, and the decoder says when a stream ended early`() throws {
        let longest = LegacyPush(token: Self.token, payload: [UInt8](repeating: 0x20, count: 2048))
        #expect(read(longest.frame(.simple)).pushes == [longest])
        var decoder = LegacyFrameDecoder()
        decoder.append(longest.frame(.simple).dropLast())
        #expect(try decoder.next() == nil)
        #expect(decoder.isInsideFrame)
    }

    @Test(arguments: LegacyStatus.allCases)
    func `an error packet has six bytes and is read again`(status: LegacyStatus) throws {
        let packet = LegacyError(status, identifier: 0x0102_0304).packet
        #expect(packet == [8, status.rawValue, 1, 2, 3, 4])
        #expect(try #require(LegacyError(packet: packet)).identifier == 0x0102_0304)
        #expect(LegacyError(packet: packet.dropLast()) == nil)
    }

    @Test func `a feedback tuple is the time, the length and the token`() {
        #expect(LegacyFeedback(seconds: 258, token: Self.token).bytes == [0, 0, 1, 2, 0, 32] + Self.token)
    }
}
