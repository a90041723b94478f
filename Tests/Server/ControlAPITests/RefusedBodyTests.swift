import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import ControlAPI

/// Bodies that go on after their requests were answered.
@Suite(.timeLimit(.minutes(5))) struct RefusedBodyTests {
    private static let piece = ByteBuffer(repeating: 1, count: 1000)
    private static let head = HTTPRequestPart.head(
        HTTPRequest(method: .post, scheme: "https", authority: "localhost", path: "/"))

    /// A connection with the handler alone.
    private func channel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(RefusedBodyHandler())
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        return channel
    }

    private func answer(_ channel: EmbeddedChannel) throws {
        try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .forbidden)))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
    }

    /// Sends pieces until the connection ends, and counts the bytes that were handed on.
    private func bytesTaken(by channel: EmbeddedChannel, upTo limit: Int) throws -> Int {
        var sent = 0
        while channel.isActive, sent < limit {
            try channel.writeInbound(HTTPRequestPart.body(Self.piece))
            sent += Self.piece.readableBytes
        }
        var taken = 0
        while let part = try channel.readInbound(as: HTTPRequestPart.self) {
            if case .body(let piece) = part { taken += piece.readableBytes }
        }
        return taken
    }

    @Test func `after the answer no more than 8 MiB of the body are read, and the connection ends`() throws {
        let channel = try channel()
        try channel.writeInbound(Self.head)
        try answer(channel)
        #expect(try bytesTaken(by: channel, upTo: 10_000_000) <= RefusedBodyHandler.limit)
        #expect(!channel.isActive)
    }

    @Test func `a body that awaits its answer may be as long as its route takes`() throws {
        let channel = try channel()
        try channel.writeInbound(Self.head)
        #expect(try bytesTaken(by: channel, upTo: 1_000_000) == 1_000_000)
        #expect(channel.isActive)
        try answer(channel)
        #expect(try bytesTaken(by: channel, upTo: 10_000_000) <= RefusedBodyHandler.limit)
        #expect(!channel.isActive)
    }

    @Test func `a short rest of a refused body costs the connection nothing`() throws {
        let channel = try channel()
        for _ in 0..<100 {
            try channel.writeInbound(Self.head)
            try answer(channel)
            #expect(try bytesTaken(by: channel, upTo: 60_000) == 60_000)
            try channel.writeInbound(HTTPRequestPart.end(nil))
        }
        #expect(channel.isActive)
    }

    @Test func `the answer to an earlier request says nothing of the one whose body comes`() throws {
        let channel = try channel()
        try channel.writeInbound(Self.head)
        try channel.writeInbound(HTTPRequestPart.end(nil))
        try channel.writeInbound(Self.head)
        try answer(channel)
        #expect(try bytesTaken(by: channel, upTo: 1_000_000) == 1_000_000)
        #expect(channel.isActive)
    }

    /// A path, and the length in bytes of a body that is refused there.
    @Test(arguments: [("/checkin", 70_000), ("/nothing/here", 1)])
    func `a listener closes a connection whose refused body goes on`(path: String, refused: Int) async throws {
        try await withListener(.development(FakeServer().services(.open))) { listener in
            let exchange = try await RawExchange.begin(port: listener.port)
            try await exchange.write(
                "POST \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(listener.port)\r\nContent-Length: 100000000\r\n\r\n")
            try await exchange.write(String(repeating: "x", count: refused))
            try await exchange.answerBegins()
            // Writing fails once the connection has ended.
            let piece = String(repeating: "x", count: 1_000_000)
            for _ in 0..<12 { try? await exchange.write(piece) }
            #expect(try await exchange.answer().hasPrefix("HTTP/1.1 4"))
        }
    }
}
