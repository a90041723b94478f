import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import ControlAPI

/// Bodies that come too slowly. Time moves when a test says so.
@Suite(.timeLimit(.minutes(5))) struct SlowBodyTests {
    private static let head = HTTPRequestPart.head(
        HTTPRequest(method: .post, scheme: "https", authority: "localhost", path: "/"))

    /// A connection with the handler alone, on which a request has begun.
    private func channel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(SlowBodyHandler())
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        try channel.writeInbound(Self.head)
        return channel
    }

    /// Sends a piece with each second that is waited for, and counts the seconds until the body is given up.
    private func seconds(_ channel: EmbeddedChannel, piece: Int, upTo limit: Int, isRead: Bool = true) throws -> Int {
        for second in 0..<limit {
            if isRead { channel.read() }
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            do { try channel.throwIfErrorCaught() } catch is SlowBody { return second }
            try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(repeating: 1, count: piece)))
        }
        return limit
    }

    @Test(arguments: [1, 100, 4096])
    func `a body that trickles is given up, whatever it has sent so far`(piece: Int) throws {
        let ends = try seconds(channel(), piece: piece, upTo: 10_000)
        let grace = 30
        // Half of the rate doubles the time, and no trickle gives more.
        #expect((grace - 1...2 * grace).contains(ends))
    }

    @Test func `a body that comes at the rate is taken for as long as it lasts`() throws {
        let piece = Int(SlowBodyHandler.bytesPerSecond)
        #expect(try seconds(channel(), piece: piece, upTo: 3600) == 3600)
    }

    @Test func `time in which the server itself does not read counts for nobody`() throws {
        #expect(try seconds(channel(), piece: 1, upTo: 3600, isRead: false) == 3600)
    }

    @Test func `each request has its own time, and between requests none is counted`() throws {
        let channel = try channel()
        for _ in 0..<100 {
            #expect(try seconds(channel, piece: 1, upTo: 20) == 20)
            try channel.writeInbound(HTTPRequestPart.end(nil))
            channel.read()
            channel.embeddedEventLoop.advanceTime(by: .hours(1))
            try channel.throwIfErrorCaught()
            try channel.writeInbound(Self.head)
        }
    }

    @Test func `a server answers 408 and closes the connection`() async throws {
        let http = HTTP1Channel(
            responder: { request, writer, _ in
                var status = HTTPResponse.Status.ok
                do { _ = try await request.body.collect(upTo: 1000) } catch is SlowBody { status = .requestTimeout }
                let body = try await writer.writeHead(HTTPResponse(status: status))
                try await body.finish(nil)
            }, configuration: .init(additionalChannelHandlers: [SlowBodyHandler()]))
        let channel = NIOAsyncTestingChannel()
        let connection = try await channel.testingEventLoop.executeInContext {
            http.setup(channel: channel, logger: Logger(label: "test"))
        }.get()
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
        async let served: Void = http.handle(value: connection, logger: Logger(label: "test"))
        try await channel.writeInbound(
            ByteBuffer(string: "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nx"))
        // The channel in memory asks for nothing by itself.
        try await channel.testingEventLoop.executeInContext { channel.pipeline.read() }
        await channel.testingEventLoop.advanceTime(by: .seconds(31))
        var answer = ""
        while !answer.contains("\r\n\r\n") {
            answer += String(buffer: try await channel.waitForOutboundWrite(as: ByteBuffer.self))
        }
        #expect(answer.hasPrefix("HTTP/1.1 408 ") && answer.lowercased().contains("connection: close"))
        await served
        #expect(!channel.isActive)
    }
}
