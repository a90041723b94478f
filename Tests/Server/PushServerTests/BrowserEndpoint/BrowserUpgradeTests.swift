import NIOCore
import NIOEmbedded
import PushCore
import Testing
import WebPushProtocol

@testable import PushServer

/// A connection that speaks HTTP: it becomes a WebSocket, or is told what the port is for.
@Suite(.timeLimit(.minutes(2))) struct BrowserUpgradeTests {
    /// A connection without a socket, from its first byte of HTTP on.
    private struct Connection {
        let channel = NIOAsyncTestingChannel()
        let begun = Watched(0)

        init(_ world: BrowserWorld) async throws {
            let endpoint = BrowserEndpoint(
                services: world.services, configuration: DeviceEndpointConfiguration(host: "127.0.0.1", port: 0),
                context: world.context)
            try await channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).get()
            try await channel.testingEventLoop.executeInContext { [channel, begun] in
                try endpoint.addHandlers(to: channel, isSecured: true) { begun.change { $0 += 1 } }
            }
        }

        /// Writes bytes; the text that comes back.
        func write(_ bytes: ByteBuffer) async throws -> String {
            try await channel.writeInbound(bytes)
            return try await answer()
        }

        func answer() async throws -> String {
            await channel.testingEventLoop.run()
            var text = ""
            while let part = try await channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: part) }
            return text
        }

        func upgrade(_ changes: [String: String?] = [:], uri: String = "/") async throws -> String {
            var fields: [String: String?] = [
                "Host": "push.example", "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
            ]
            fields.merge(changes) { $1 }
            let lines = fields.compactMap { name, value in value.map { "\(name): \($0)\r\n" } }
            return try await write(ByteBuffer(string: "GET \(uri) HTTP/1.1\r\n\(lines.joined())\r\n"))
        }
    }

    /// A text in one masked frame of less than 126 bytes.
    private func frame(_ text: String) -> ByteBuffer {
        ByteBuffer(bytes: [0x81, 0x80 | UInt8(text.utf8.count), 0, 0, 0, 0] + Array(text.utf8))
    }

    @Test func `a handshake makes a WebSocket, which the registry knows and stops`() async throws {
        try await withBrowsers { world in
            let connection = try await Connection(world)
            let answer = try await connection.upgrade(uri: "/?key=a")
            #expect(answer.hasPrefix("HTTP/1.1 101 ") && answer.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
            #expect(connection.begun.value == 1)
            let said = try await connection.write(frame("[]"))
            #expect(said.contains("a message must be a JSON object"))
            #expect(!connection.channel.isActive)
            let (loop, isEmpty) = (NIOAsyncTestingEventLoop(), Watched(false))
            world.registry.stop(.alone, on: loop).whenSuccess { isEmpty.change { $0 = true } }
            await loop.run()
            #expect(isEmpty.value)
        }
    }

    @Test func `a WebSocket is told when the server stops, and a stopping server begins none`() async throws {
        try await withBrowsers { world in
            let (connection, late) = (try await Connection(world), try await Connection(world))
            #expect(try await connection.upgrade().hasPrefix("HTTP/1.1 101 "))
            let (loop, isEmpty) = (NIOAsyncTestingEventLoop(), Watched(false))
            world.registry.stop(.alone, on: loop).whenSuccess { isEmpty.change { $0 = true } }
            #expect(try await connection.answer().contains("the server stops; connect again"))
            await loop.run()
            #expect(isEmpty.value && !connection.channel.isActive)
            // The handshake is answered before the registry is asked; its error may reach the end of the channel.
            _ = try? await late.upgrade()
            await late.channel.testingEventLoop.run()
            #expect(!late.channel.isActive && late.begun.value == 0)
        }
    }

    @Test(
        arguments: [
            ["Upgrade": nil, "Connection": nil], ["Upgrade": "h2c"], ["Sec-WebSocket-Key": nil],
            ["Sec-WebSocket-Version": "8"],
        ] as [[String: String?]])
    func `a request that is no handshake is told what the port is for, and closed`(
        changes: [String: String?]
    ) async throws {
        try await withBrowsers { world in
            let connection = try await Connection(world)
            let answer = try await connection.upgrade(changes)
            #expect(answer.hasPrefix("HTTP/1.1 426 ") && answer.lowercased().contains("upgrade: websocket"))
            #expect(answer.contains("This port is for devices") && answer.split(separator: "HTTP/1.1 ").count == 1)
            #expect(connection.begun.value == 0 && !connection.channel.isActive)
        }
    }

    @Test func `what is no HTTP is closed, and nothing begins`() async throws {
        try await withBrowsers { world in
            let connection = try await Connection(world)
            // The parser's error may reach the end of the channel.
            _ = try? await connection.write(ByteBuffer(string: "G\u{0}\r\n\r\n"))
            await connection.channel.testingEventLoop.run()
            #expect(!connection.channel.isActive && connection.begun.value == 0)
        }
    }

    @Test(
        arguments: [
            ([0x82, 0xFF, 0, 0, 0, 0, 0, 1, 0, 1], 1009), ([0x09, 0x80, 0, 0, 0, 0], 1002),
            ([0x89, 0xFE, 0, 126, 0, 0, 0, 0], 1002),
        ] as [([UInt8], UInt16)])
    func `a frame that is none is answered with the code for it, and the connection is closed`(
        bytes: [UInt8], code: UInt16
    ) async throws {
        try await withBrowsers { world in
            let connection = try await Connection(world)
            _ = try await connection.upgrade()
            try await connection.channel.writeInbound(ByteBuffer(bytes: bytes))
            await connection.channel.testingEventLoop.run()
            var answer = ByteBuffer()
            while var part = try await connection.channel.readOutbound(as: ByteBuffer.self) {
                answer.writeBuffer(&part)
            }
            #expect(Array(buffer: answer) == [0x88, 2, UInt8(code >> 8), UInt8(code & 0xFF)])
            #expect(!connection.channel.isActive)
        }
    }

    @Test func `bytes behind the handshake are read as frames`() async throws {
        try await withBrowsers { world in
            let connection = try await Connection(world)
            var bytes = ByteBuffer(
                string: "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                    + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
            var hello = frame(#"{"messageType":"hello"}"#)
            bytes.writeBuffer(&hello)
            var answer = try await connection.write(bytes)
            while !answer.contains("uaid") {
                answer += String(buffer: try await connection.channel.waitForOutboundWrite(as: ByteBuffer.self))
            }
            #expect(answer.hasPrefix("HTTP/1.1 101 ") && answer.contains(#""status":200"#))
            _ = try await connection.channel.finish(acceptAlreadyClosed: true)
        }
    }
}
