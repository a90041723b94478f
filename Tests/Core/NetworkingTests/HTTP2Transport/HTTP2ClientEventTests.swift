import NIOCore
import NIOEmbedded
import PushCore
import Synchronization
import Testing

@testable import Networking

/// What the observer of a client's connection learns.
@Suite struct HTTP2ClientEventTests {
    /// A client in memory, whose server is the test.
    private final class Observed {
        let channel = EmbeddedChannel()
        let handler: HTTP2ClientHandler
        private let log: Log

        private final class Log: Sendable { let events = Mutex<[String]>([]) }

        init() throws {
            let log = Log()
            self.log = log
            handler = HTTP2ClientHandler(
                limits: HTTP2Limits(), waitsForTLS: false, eventLoop: channel.embeddedEventLoop
            ) { event in log.events.withLock { $0.append(Self.text(event)) } }
            try channel.pipeline.syncOperations.addHandler(handler)
            channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        }

        private static func text(_ event: HTTP2ClientEvent) -> String {
            switch event {
            case .settings(let limit): "settings \(limit)"
            case .goAway(let last, let code, let debug):
                "goaway \(last) \(code) \(String(decoding: debug, as: UTF8.self))"
            case .pingAcknowledged: "ping"
            case .ended(let request, .success(let response)): "\(request) \(response.status)"
            case .ended(let request, .failure(let error)): "\(request) \(error)"
            case .closed(_, let unprocessed): "closed \(unprocessed.sorted())"
            }
        }

        /// The events since the last call.
        var events: [String] {
            log.events.withLock { events in
                defer { events = [] }
                return events
            }
        }

        func receive(_ frames: RawFrame...) throws {
            try channel.writeInbound(ByteBuffer(bytes: frames.flatMap(\.bytes)))
        }

        func send(_ request: Int, isFlushed: Bool = true) {
            var head = HeaderBlock()
            for (name, value) in [(":method", "POST"), (":scheme", "https"), (":authority", "a"), (":path", "/")] {
                head.append(name, value)
            }
            handler.send(request: request, headers: head, body: [1])
            if isFlushed { channel.embeddedEventLoop.run() }
        }

        /// The frames that the client has written since the last call, without its preface.
        func written() throws -> [RawFrame] {
            var buffer = ByteBuffer()
            while let part = try channel.readOutbound(as: ByteBuffer.self) { buffer.writeImmutableBuffer(part) }
            let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
            if buffer.readableBytesView.starts(with: preface) { buffer.moveReaderIndex(forwardBy: preface.count) }
            return RawFrame.take(from: &buffer)
        }
    }

    private func settings(streams: UInt8) -> RawFrame {
        RawFrame(kind: .settings, payload: [0, 3, 0, 0, 0, streams])
    }

    private func goAway(last: UInt8, debug: String = "") -> RawFrame {
        RawFrame(kind: .goAway, payload: [0, 0, 0, last, 0, 0, 0, 0] + Array(debug.utf8))
    }

    private func accepted(_ stream: Int32) -> RawFrame {
        RawFrame(kind: .headers, flags: RawFrame.endHeaders | RawFrame.endStream, stream: stream, payload: [0x88])
    }

    @Test func `the number of streams is told whenever it changes`() throws {
        let client = try Observed()
        try client.receive(settings(streams: 100))
        try client.receive(settings(streams: 1))
        #expect(client.events == ["settings 100", "settings 1"])
        _ = try client.channel.finish()
    }

    @Test func `after GOAWAY later requests were not processed and earlier ones may finish`() throws {
        let client = try Observed()
        try client.receive(settings(streams: 100))
        for request in [11, 12, 13] { client.send(request) }
        _ = client.events
        try client.receive(goAway(last: 0xFF, debug: #"{"reason":"Shutdown"}"#))
        #expect(client.events == [#"goaway 255 0 {"reason":"Shutdown"}"#])
        try client.receive(goAway(last: 1))
        #expect(Set(client.events) == ["goaway 1 0 ", "12 notProcessed", "13 notProcessed"])
        client.send(14)
        #expect(client.events == ["14 notProcessed"])
        try client.receive(accepted(1))
        #expect(client.events == ["11 200", "closed []"])
        _ = try client.channel.finish(acceptAlreadyClosed: true)
    }

    @Test func `a refused stream was not processed, and another reset is not knowing`() throws {
        let client = try Observed()
        try client.receive(settings(streams: 100))
        for request in [1, 2] { client.send(request) }
        _ = client.events
        try client.receive(.resetStream(1, code: 7), .resetStream(3, code: 2))
        #expect(client.events == ["1 notProcessed", "2 streamReset(code: 2)"])
        _ = try client.channel.finish()
    }

    @Test func `PING and its acknowledgement`() throws {
        let client = try Observed()
        try client.receive(settings(streams: 100))
        _ = try client.written()
        client.handler.ping()
        let ping = try #require(try client.written().first { $0.kind == .ping })
        #expect(client.events == ["settings 100"])
        try client.receive(RawFrame(kind: .ping, flags: RawFrame.acknowledgement, payload: ping.payload))
        #expect(client.events == ["ping"])
        _ = try client.channel.finish()
    }

    @Test func `an abandoned request is reset and tells nothing more`() throws {
        let client = try Observed()
        try client.receive(settings(streams: 100))
        client.send(1)
        _ = try client.written()
        client.handler.abandon(request: 1)
        client.channel.embeddedEventLoop.run()
        #expect(try client.written() == [.resetStream(1, code: 8)])
        try client.receive(accepted(1))
        #expect(client.events == ["settings 100"])
        _ = try client.channel.finish()
    }

    @Test func `the end of the connection is that of its requests`() throws {
        let client = try Observed()
        try client.receive(settings(streams: 100))
        client.send(1)
        _ = client.events
        _ = try client.channel.finish()
        #expect(client.events == ["closed []"])
    }

    @Test func `a request that was never written was not processed when the connection ends`() throws {
        let client = try Observed()
        try client.receive(settings(streams: 100))
        client.send(1)
        client.send(2, isFlushed: false)
        _ = client.events
        client.channel.pipeline.fireChannelInactive()
        #expect(client.events == ["closed [2]"])
        client.send(3)
        #expect(client.events == ["3 notProcessed"])
    }
}
