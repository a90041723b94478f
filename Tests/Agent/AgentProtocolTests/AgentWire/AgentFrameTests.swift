import AgentProtocol
import Foundation
import Testing

struct AgentFrameTests {
    /// All frames that a decoder finds in these pieces.
    private func frames(in pieces: [[UInt8]]) throws -> [[UInt8]] {
        var decoder = AgentFrameDecoder()
        var found: [[UInt8]] = []
        for piece in pieces {
            decoder.append(piece)
            while let frame = try decoder.next() { found.append(frame) }
        }
        return found
    }

    @Test func `a length is four bytes, most significant first`() throws {
        #expect(try AgentFrame.encode(AppMessage.ready) == [0, 0, 0, 16] + Array(#"{"type":"ready"}"#.utf8))
    }

    @Test(arguments: [0, 1, 2, 3, 4, 62, 63, 64, 300, 5000])
    func `a packet's frame is its bytes after a zero byte, and the same is read from JSON`(count: Int) throws {
        let packet = RelayPacket((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151) })
        let frame = try AppMessage.relay(packet).frame()
        #expect(frame == [0, 0, UInt8((count + 1) >> 8), UInt8((count + 1) & 255), 0] + packet.frame)
        #expect(try frame == AgentMessage.relay(packet).frame())
        let body = Array(frame.dropFirst(4))
        #expect(try AppMessage(frame: body) == .relay(packet))
        #expect(try AgentMessage(frame: body) == .relay(packet))
        let text = packet.frame.base64EncodedString()
        #expect(try AppMessage(frame: Array(#"{ "type": "relay", "frame": "\#(text)" }"#.utf8)) == .relay(packet))
    }

    @Test(arguments: [
        #"{"frame":"a","type":"relay"}"#, #"{"frame":"+","type":"relay"}"#, #"{"frame":"!!!!","type":"relay"}"#,
        #"{"frame":"","type":"relay"}"# + "}", #"{"frame":","type":"relay"}"#,
    ])
    func `what is no packet is refused`(text: String) {
        #expect(throws: AgentFrameError.self) { try AppMessage(frame: Array(text.utf8)) }
    }

    @Test func `two frames survive a cut at every byte`() throws {
        let first = try AgentFrame.encode(GoldenMessages.fromAgent[8].message)
        let second = try AgentFrame.encode(AppMessage.ready)
        let stream = first + second
        for cut in 0...stream.count {
            let found = try frames(in: [Array(stream[..<cut]), Array(stream[cut...])])
            #expect(found == [Array(first.dropFirst(4)), Array(second.dropFirst(4))], "cut at \(cut)")
        }
        #expect(try frames(in: stream.map { [$0] }).count == 2)
    }

    @Test func `the greatest frame is let through and one byte more is refused at its length`() throws {
        let greatest = [0, 0x10, 0, 0] + [UInt8](repeating: 32, count: 1 << 20)
        #expect(try frames(in: [greatest]).map(\.count) == [1 << 20])

        var decoder = AgentFrameDecoder()
        decoder.append([0, 0x10, 0, 1])
        #expect(throws: AgentFrameError.tooLong(length: 1 << 20 + 1)) { try decoder.next() }
        decoder.append([0, 0, 0, 1, 32])
        #expect(throws: AgentFrameError.tooLong(length: 1 << 20 + 1)) { try decoder.next() }
    }

    @Test func `a message that is too long is not encoded`() {
        let message = AppMessage.hello(
            version: 1, app: BundleID(rawValue: String(repeating: "a", count: 1 << 20)), secret: nil)
        #expect(throws: AgentFrameError.self) { try AgentFrame.encode(message) }
    }

    @Test func `an empty frame is a frame, but not a message`() throws {
        #expect(try frames(in: [[0, 0, 0, 0]]) == [[]])
        #expect(throws: AgentFrameError.self) { try AgentMessage(frame: []) }
    }
}
