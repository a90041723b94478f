import NIOCore
import NIOEmbedded
import NIOWebSocket
import Testing

@testable import PushServer

/// What a client's frame must have.
@Suite struct ClientFrameHandlerTests {
    private static let opcodes = (UInt8(0)..<16).compactMap { WebSocketOpcode(encodedWebSocketOpcode: $0) }

    private func frame(
        _ opcode: WebSocketOpcode = .text, isMasked: Bool = true, rsv: (Bool, Bool, Bool) = (false, false, false),
        fin: Bool = true
    ) -> WebSocketFrame {
        WebSocketFrame(
            fin: fin, rsv1: rsv.0, rsv2: rsv.1, rsv3: rsv.2, opcode: opcode, maskKey: isMasked ? [1, 2, 3, 4] : nil,
            data: ByteBuffer(string: "{}"))
    }

    /// The reason for which the handler refuses a frame; `nil` where it forwards it.
    private func refusal(_ frame: WebSocketFrame) throws -> String? {
        let channel = EmbeddedChannel(handler: ClientFrameHandler())
        do { try channel.writeInbound(frame) } catch let fault as ClientFrameHandler.Fault {
            #expect(try channel.readInbound(as: WebSocketFrame.self) == nil)
            return fault.reason
        }
        #expect(try channel.readInbound(as: WebSocketFrame.self) == frame)
        #expect(try channel.finish().isClean)
        return nil
    }

    @Test(arguments: opcodes)
    func `a frame that is masked and has no extension's bit is forwarded as it is`(opcode: WebSocketOpcode) throws {
        for fin in [true, false] { #expect(try refusal(frame(opcode, fin: fin)) == nil) }
    }

    @Test(arguments: opcodes)
    func `a frame that is not masked is refused, whatever it is`(opcode: WebSocketOpcode) throws {
        for fin in [true, false] {
            #expect(try refusal(frame(opcode, isMasked: false, fin: fin)) == "a client masks its frames")
        }
    }

    @Test func `each bit of an extension is refused`() throws {
        let bits = [(true, false, false), (false, true, false), (false, false, true), (true, true, true)]
        for rsv in bits { #expect(try refusal(frame(rsv: rsv)) == "no extension was agreed on") }
        #expect(try refusal(frame(isMasked: false, rsv: (true, false, false))) == "a client masks its frames")
    }

    @Test func `a mask of zeros is a mask`() throws {
        let data = ByteBuffer(string: "{}")
        #expect(try refusal(WebSocketFrame(fin: true, opcode: .text, maskKey: [0, 0, 0, 0], data: data)) == nil)
    }
}
