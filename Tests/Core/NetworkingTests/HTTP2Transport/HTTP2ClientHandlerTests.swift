import NIOCore
import NIOEmbedded
import PushCore
import Testing

@testable import Networking

/// What the client makes of a response's parts.
@Suite struct HTTP2ClientHandlerTests {
    /// The response that a client reads from these frames of a server.
    private func response(_ frames: [RawFrame]) throws -> HTTP2Response {
        let channel = EmbeddedChannel()
        let handler = HTTP2ClientHandler(
            limits: HTTP2Limits(), waitsForTLS: false, eventLoop: channel.embeddedEventLoop)
        try channel.pipeline.syncOperations.addHandler(handler)
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        try channel.writeInbound(ByteBuffer(bytes: RawFrame(kind: .settings).bytes))
        var head = HeaderBlock()
        for (name, value) in [(":method", "GET"), (":scheme", "http"), (":authority", "localhost"), (":path", "/")] {
            head.append(name, value)
        }
        let answer = handler.request(headers: head, body: [], timeout: .seconds(30))
        // Byte by byte, as a network may bring it.
        for byte in frames.flatMap(\.bytes) { try channel.writeInbound(ByteBuffer(bytes: [byte])) }
        let response = try answer.wait()
        _ = try channel.finish(acceptAlreadyClosed: true)
        return response
    }

    private func head(_ fields: [UInt8], flags: UInt8 = 0) -> RawFrame {
        RawFrame(kind: .headers, flags: RawFrame.endHeaders | flags, stream: 1, payload: fields)
    }

    /// `:status` by the name's index in HPACK's static table.
    private func status(_ code: String) -> [UInt8] { RawFrame.literal(name: [0x08], value: code) }

    private let body = RawFrame(kind: .data, flags: RawFrame.endStream, stream: 1, payload: Array("body".utf8))

    @Test(arguments: [["100"], ["103"], ["103", "103", "100"]])
    func `an interim response is no part of the one that follows`(interim: [String]) throws {
        let before = interim.map { head(status($0) + RawFrame.literal("link", "early")) }
        let response = try response(before + [head(status("403") + RawFrame.literal("apns-id", "late")), body])
        #expect(response.status == 403)
        #expect(response.header("link") == nil)
        #expect(response.header("apns-id") == "late")
        #expect(response.headers.count == 2)
        #expect(response.body == Array("body".utf8))
    }

    @Test func `trailers are no part of the head`() throws {
        let data = RawFrame(kind: .data, stream: 1, payload: Array("body".utf8))
        let trailers = head(RawFrame.literal("x-sum", "1"), flags: RawFrame.endStream)
        let response = try response([head(status("200")), data, trailers])
        #expect(response.status == 200)
        #expect(response.headers.count == 1)
        #expect(response.body == Array("body".utf8))
    }

    @Test func `a response without a body ends with its head`() throws {
        let response = try response([head(status("103")), head(status("200"), flags: RawFrame.endStream)])
        #expect(response.status == 200 && response.body.isEmpty)
    }
}
