import DeviceChannel
import NIOCore
import NIOPosix
import NIOSSL
import PushCore
import Testing

@testable import PushServer

/// One listener for devices and for browsers, over sockets.
@Suite(.timeLimit(.minutes(2))) struct BrowserListenerTests {
    /// A client that writes bytes of its own and sees what comes back.
    private final class Client: Sendable {
        struct State: Sendable {
            var text = ""
            var isClosed = false
        }

        let state = Watched(State())
        private let channel: any Channel

        init(port: Int, trusting certificate: TestCertificate?) async throws {
            var context: NIOSSLContext?
            if let certificate {
                var configuration = TLSConfiguration.makeClientConfiguration()
                let root = try NIOSSLCertificate(bytes: Array(certificate.pem.utf8), format: .pem)
                configuration.trustRoots = .certificates([root])
                context = try NIOSSLContext(configuration: configuration)
            }
            channel = try await ClientBootstrap(group: NIOSingletons.posixEventLoopGroup)
                .channelInitializer { [context, state] channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        if let context {
                            try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: nil))
                        }
                        try pipeline.addHandler(Collector(state))
                    }
                }
                .connect(host: "127.0.0.1", port: port).get()
        }

        func write(_ bytes: [UInt8]) async throws { try await channel.writeAndFlush(ByteBuffer(bytes: bytes)) }

        /// Writes a text in one masked frame of less than 126 bytes.
        func say(_ text: String) async throws {
            try await write([0x81, 0x80 | UInt8(text.utf8.count), 0, 0, 0, 0] + Array(text.utf8))
        }

        /// Asks for a WebSocket.
        func upgrade() async throws {
            let request =
                "GET / HTTP/1.1\r\nHost: push.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
            try await write(Array(request.utf8))
            await state.wait { $0.text.contains("\r\n\r\n") }
            #expect(state.value.text.hasPrefix("HTTP/1.1 101 "))
        }

        private final class Collector: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer
            private let state: Watched<State>

            init(_ state: Watched<State>) { self.state = state }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                let text = String(buffer: unwrapInboundIn(data))
                state.change { $0.text += text }
            }

            func channelInactive(context: ChannelHandlerContext) { state.change { $0.isClosed = true } }

            func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
        }
    }

    private struct Listener {
        let world: BrowserWorld
        let endpoint: DeviceEndpoint
        let certificate: TestCertificate
        let port: Int
    }

    private func withListener(_ body: (Listener) async throws -> Void) async throws {
        try await withBrowsers { world in
            let certificate = try TestCertificate()
            var configuration = DeviceEndpointConfiguration(host: "127.0.0.1", port: 0)
            // A stop that waits for a connection does not end within the test's time.
            configuration.stopGrace = 600_000
            let endpoint = DeviceEndpoint(
                configuration: configuration, tls: { [tls = try certificate.serverContext()] in tls },
                gateway: world.gateway, sessions: world.sessions, browsers: world.services,
                group: NIOSingletons.posixEventLoopGroup, logger: BrowserWorld.quiet)
            let port = try await endpoint.start()
            try await body(Listener(world: world, endpoint: endpoint, certificate: certificate, port: port))
            await endpoint.stop()
        }
    }

    @Test(arguments: [false, true])
    func `a browser is served over TLS and without, and told when the server stops`(isSecured: Bool) async throws {
        try await withListener { listener in
            let client = try await Client(port: listener.port, trusting: isSecured ? listener.certificate : nil)
            try await client.upgrade()
            try await client.say(#"{"messageType":"hello"}"#)
            await client.state.wait { $0.text.contains("uaid") }
            let register = #"{"messageType":"register","channelID":"\#(channelID(1))"}"#
            try await client.say(register)
            await client.state.wait { $0.text.contains("pushEndpoint") }
            let root = isSecured ? "https" : "http"
            #expect(client.state.value.text.contains("\"\(root)://push.example/wpush/v2/"))
            #expect(listener.world.sessions.state.value.opened.count == 1)
            await listener.endpoint.stop()
            await client.state.wait { $0.isClosed }
            #expect(client.state.value.text.contains("the server stops; connect again"))
            #expect(listener.world.closed == [1])
        }
    }

    @Test func `a device is served on the same port, beside a browser`() async throws {
        try await withListener { listener in
            let browser = try await Client(port: listener.port, trusting: nil)
            try await browser.upgrade()
            let device = try await RawDevice(
                port: listener.port, certificate: listener.certificate, group: NIOSingletons.posixEventLoopGroup)
            try await device.write([.login(MCSLoginRequest(device: 7, secret: 8))], version: 41)
            let state = await device.state.wait { !$0.packets.isEmpty }
            #expect(state.version == 41 && state.packets.first?.tag == .loginResponse)
            try await browser.say("{}")
            await browser.state.wait { $0.isClosed }
            #expect(browser.state.value.text.contains("the first message must be hello"))
            #expect(!device.state.value.isClosed && listener.world.closed.isEmpty)
        }
    }

    @Test(arguments: ["", "G", "GET / HTTP/1.1\r\n"], [false, true])
    func `a connection that has not said what it wants is closed when the server stops`(
        said: String, isSecured: Bool
    ) async throws {
        try await withListener { listener in
            let client = try await Client(port: listener.port, trusting: isSecured ? listener.certificate : nil)
            if !said.isEmpty { try await client.write(Array(said.utf8)) }
            // The server has accepted it once it serves the next one.
            let next = try await Client(port: listener.port, trusting: nil)
            try await next.upgrade()
            await listener.endpoint.stop()
            await client.state.wait { $0.isClosed }
            #expect(client.state.value.text.isEmpty && listener.world.closed.isEmpty)
        }
    }

    @Test(arguments: [[0], [41], [0x67, 0x65, 0x74, 0x20]] as [[UInt8]])
    func `what is neither HTTP nor TLS is closed`(bytes: [UInt8]) async throws {
        try await withListener { listener in
            let client = try await Client(port: listener.port, trusting: nil)
            // A record of TLS has five bytes before its content.
            try await client.write(bytes + [UInt8](repeating: 0, count: 5))
            await client.state.wait { $0.isClosed }
        }
    }
}
