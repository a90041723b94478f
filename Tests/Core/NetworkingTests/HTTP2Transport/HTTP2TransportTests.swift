import Logging
import NIOCore
import NIOPosix
import PushCore
import Testing

@testable import Networking

/// Answers each request at once, with what its path asks for.
private final class EchoHandler: HTTP2RequestHandler {
    func requestReceived(_ request: HTTP2Request, on connection: HTTP2ServerConnection) {
        var headers = HeaderBlock()
        let path = request.headers.first(":path").map { request.headers.text($0) }
        let status =
            switch request.fault {
            case nil: "200"
            case .bodyTooLarge: "413"
            case .headersTooLarge: "431"
            case .bodyLate, .wrongLength: "400"
            }
        headers.append(":status", status)
        headers.append("x-path", path ?? "")
        switch path {
        case "/silent": return
        case "/empty": connection.respond(request.stream, headers: headers)
        default:
            let body = request.fault == .bodyTooLarge ? Array("too large".utf8) : request.body
            connection.respond(request.stream, headers: headers, body: body)
        }
    }

    func connectionClosed(_ connection: HTTP2ServerConnection) {}
}

@Suite(.timeLimit(.minutes(5))) struct HTTP2TransportTests {
    private func withPair(
        limits: HTTP2Limits = HTTP2Limits(), _ body: (HTTP2Listener, HTTP2Client) async throws -> Void
    ) async throws {
        var configuration = HTTP2Listener.Configuration(host: "127.0.0.1", port: 0, tls: nil)
        configuration.limits = limits
        let group = MultiThreadedEventLoopGroup.singleton
        let listener = try await HTTP2Listener.bind(configuration, on: group) { _ in EchoHandler() }
        let client = try await HTTP2Client.connect(host: "127.0.0.1", port: listener.port, tls: nil, on: group)
        try await body(listener, client)
        await client.close()
        await listener.shutDown()
    }

    private func head(_ path: String, _ fields: [(String, String)] = []) -> HeaderBlock {
        var block = HeaderBlock()
        for (name, value) in [(":method", "POST"), (":scheme", "http"), (":authority", "localhost"), (":path", path)] {
            block.append(name, value)
        }
        for (name, value) in fields { block.append(name, value) }
        return block
    }

    @Test func `a request is answered with its own body`() async throws {
        try await withPair { _, client in
            let response = try await client.request(headers: head("/a"), body: Array("hello".utf8))
            #expect(response.status == 200)
            #expect(response.header("x-path") == "/a")
            #expect(response.body == Array("hello".utf8))
        }
    }

    @Test func `an answer without a body ends with its headers`() async throws {
        try await withPair { _, client in
            let response = try await client.request(headers: head("/empty"), body: [1])
            #expect(response.status == 200 && response.body.isEmpty)
        }
    }

    @Test func `many requests at once each get their own answer`() async throws {
        try await withPair { _, client in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<500 {
                    group.addTask {
                        let body = Array(String(number).utf8)
                        return try await client.request(headers: head("/\(number)"), body: body).body == body
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
        }
    }

    @Test(arguments: [1000, 16_384, 16_385, 300_000])
    func `a body beyond the limit is answered as too large, and the connection lives`(count: Int) async throws {
        try await withPair { _, client in
            let response = try await client.request(headers: head("/a"), body: [UInt8](repeating: 1, count: count))
            #expect(response.status == (count <= 16_384 ? 200 : 413))
            let next = try await client.request(headers: head("/b"), body: [1])
            #expect(next.status == 200)
        }
    }

    @Test(arguments: [[9000], [30_000], [Int](repeating: 1, count: 200)])
    func `header fields beyond the limit are answered, and the connection lives`(sizes: [Int]) async throws {
        try await withPair { _, client in
            let large = head("/a", sizes.map { ("x-large", String(repeating: "x", count: $0)) })
            for _ in 0..<5 {
                let response = try await client.request(headers: large, body: [1])
                #expect(response.status == 431 && response.header("x-path") == "/a")
            }
            let next = try await client.request(headers: head("/b"), body: [1])
            #expect(next.status == 200)
        }
    }

    @Test func `a path beyond the limit is answered`() async throws {
        try await withPair { _, client in
            let response = try await client.request(
                headers: head("/" + String(repeating: "x", count: 9000)), body: [1])
            #expect(response.status == 431)
        }
    }

    @Test(arguments: ["0", "4", "6", "99"])
    func `a body of another length than announced is answered, and the connection lives`(length: String) async throws {
        try await withPair { _, client in
            let response = try await client.request(
                headers: head("/a", [("content-length", length)]), body: Array("hello".utf8))
            #expect(response.status == 400)
            let next = try await client.request(headers: head("/b", [("content-length", "1")]), body: [1])
            #expect(next.status == 200)
        }
    }

    @Test func `header fields far beyond the limit end the stream, and the connection lives`() async throws {
        try await withPair { _, client in
            let large = head("/a", [("x-large", String(repeating: "x", count: 33_000))])
            await #expect(throws: HTTP2RequestError.streamReset(code: 11)) {
                _ = try await client.request(headers: large, body: [1])
            }
            let next = try await client.request(headers: head("/b"), body: [1])
            #expect(next.status == 200)
        }
    }

    @Test func `a request without an answer ends at its deadline`() async throws {
        try await withPair { _, client in
            await #expect(throws: HTTP2RequestError.timedOut) {
                _ = try await client.request(headers: head("/silent"), body: [], timeout: .milliseconds(50))
            }
        }
    }

    @Test func `a closed connection fails what is open and refuses what comes after`() async throws {
        try await withPair { _, client in
            let silent = head("/silent")
            let open = Task { try await client.request(headers: silent, body: [1]) }
            let answer = try await client.request(headers: head("/a"), body: [1])
            #expect(answer.status == 200)
            await client.close()
            await #expect(throws: HTTP2RequestError.self) { _ = try await open.value }
            await #expect(throws: HTTP2RequestError.notProcessed) {
                _ = try await client.request(headers: head("/a"), body: [1])
            }
        }
    }

    @Test func `a listener that shuts down says so to its connections`() async throws {
        try await withPair { listener, client in
            let answer = try await client.request(headers: head("/a"), body: [1])
            #expect(answer.status == 200)
            await listener.shutDown()
            #expect(listener.connections == 0)
            await #expect(throws: HTTP2RequestError.self) {
                _ = try await client.request(headers: head("/a"), body: [1])
            }
        }
    }

    @Test func `a connection on which nothing begins is closed`() async throws {
        var configuration = HTTP2Listener.Configuration(host: "127.0.0.1", port: 0, tls: nil)
        configuration.openingTimeout = .milliseconds(50)
        let group = MultiThreadedEventLoopGroup.singleton
        let listener = try await HTTP2Listener.bind(configuration, on: group) { _ in EchoHandler() }
        let channel = try await ClientBootstrap(group: group).connect(host: "127.0.0.1", port: listener.port).get()
        try await channel.closeFuture.get()
        await listener.shutDown()
    }

    @Test func `a connection on which nothing moves any more is sent away`() async throws {
        // That it proved nothing yet does not end it.
        let limiter = ConnectionLimiter(
            listener: "test",
            ConnectionLimiter.Configuration(
                limits: .init(total: 10, perAddress: 10, unproven: 10), proofTimeout: .hours(1)),
            logger: Logger(label: "test"))
        var configuration = HTTP2Listener.Configuration(host: "127.0.0.1", port: 0, tls: nil, limiter: limiter)
        configuration.idleTimeout = .milliseconds(50)
        let group = MultiThreadedEventLoopGroup.singleton
        let listener = try await HTTP2Listener.bind(configuration, on: group) { _ in EchoHandler() }
        let channel = try await ClientBootstrap(group: group).connect(host: "127.0.0.1", port: listener.port).get()
        // On a slow machine the connection may be closed before this is written.
        channel.writeAndFlush(
            ByteBuffer(bytes: RawFrame.clientPreface + RawFrame(kind: .settings).bytes), promise: nil)
        // Nothing else would end the wait.
        let impatience = channel.eventLoop.scheduleTask(in: .seconds(30)) {
            Issue.record("the connection is kept")
            channel.close(promise: nil)
        }
        try await channel.closeFuture.get()
        impatience.cancel()
        await listener.shutDown()
    }

    @Test func `a port where nobody listens is an error, not a wait`() async throws {
        // Port 1 is never given out as a free one, and nobody listens on it.
        await #expect(throws: (any Error).self) {
            _ = try await HTTP2Client.connect(
                host: "127.0.0.1", port: 1, tls: nil, on: MultiThreadedEventLoopGroup.singleton)
        }
    }
}
