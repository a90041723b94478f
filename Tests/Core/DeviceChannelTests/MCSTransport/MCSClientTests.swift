import AldabaTestSupport
import DeviceChannel
import NIOCore
import NIOPosix
import PushCore
import Testing

/// Waits for the end of a connection.
private final class Ending: MCSClientDelegate {
    private let stream = AsyncStream<MCSClientCloseReason>.makeStream()

    func reason() async -> MCSClientCloseReason? { await stream.stream.first { _ in true } }

    func loggedIn(_ connection: MCSClientConnection, serverTime: Timestamp) {}
    func received(_ connection: MCSClientConnection, _ notifications: [OutgoingNotification]) {}
    func confirmed(_ connection: MCSClientConnection, _ ids: [NotificationID]) {}
    func upstreamConfirmed(_ connection: MCSClientConnection, _ persistentIDs: [String]) {}
    func upstreamNotSent(_ connection: MCSClientConnection, persistentID: String) {}
    func didDropStanza(_ connection: MCSClientConnection, persistentID: String, reason: String) {}
    func closed(_ connection: MCSClientConnection, _ reason: MCSClientCloseReason) { stream.continuation.yield(reason) }
}

@Suite(.timeLimit(.minutes(5))) struct MCSClientTests {
    private let group = MultiThreadedEventLoopGroup.singleton
    private let credentials = MCSCredentials(device: DeviceID(1)!, secret: 2, received: [])

    @Test func `certificate authorities that cannot be read are named`() throws {
        let folder = try TemporaryFolder()
        #expect {
            try MCSClient(
                MCSClientTarget(host: "localhost", port: 1, trust: .certificateFile(folder.path("none.pem"))),
                group: group)
        } throws: { error in
            "\(error)".contains(folder.path("none.pem"))
        }
    }

    @Test func `a server that is not there ends the attempt with a reason`() async throws {
        // A port that was free a moment ago, and is again.
        let listener = try await ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listener.localAddress?.port)
        try await listener.close()
        let client = try MCSClient(MCSClientTarget(host: "127.0.0.1", port: port, trust: .system), group: group)
        let ending = Ending()
        _ = client.connect(credentials, delegate: ending)
        guard case .disconnected(let text)? = await ending.reason() else { return #expect(Bool(false)) }
        #expect(text == "nothing listens there; does the server run?")
    }

    @Test func `a server that speaks no TLS ends the attempt with a reason`() async throws {
        let listener = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Greeter()) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listener.localAddress?.port)
        let client = try MCSClient(MCSClientTarget(host: "127.0.0.1", port: port, trust: .system), group: group)
        let ending = Ending()
        _ = client.connect(credentials, delegate: ending)
        guard case .untrusted(let text)? = await ending.reason() else { return #expect(Bool(false)) }
        #expect(text == "it does not speak TLS at this port")
        try await listener.close()
    }

    @Test func `a server that hangs up during the handshake is not one that cannot be trusted`() async throws {
        let listener = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(HangUp()) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listener.localAddress?.port)
        let client = try MCSClient(MCSClientTarget(host: "127.0.0.1", port: port, trust: .system), group: group)
        let ending = Ending()
        _ = client.connect(credentials, delegate: ending)
        guard case .disconnected? = await ending.reason() else { return #expect(Bool(false)) }
        try await listener.close()
    }

    /// Closes when the first bytes of the handshake come.
    private final class HangUp: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        func channelRead(context: ChannelHandlerContext, data: NIOAny) { context.close(promise: nil) }
    }

    /// Speaks first, and no TLS.
    private final class Greeter: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        func channelActive(context: ChannelHandlerContext) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "220 mail.example ESMTP\r\n")), promise: nil)
        }
    }

    @Test func `a connection that its owner closes before it is made ends, once`() async throws {
        let listener = try await ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listener.localAddress?.port)
        let client = try MCSClient(MCSClientTarget(host: "127.0.0.1", port: port, trust: .system), group: group)
        let ending = Ending()
        let connection = client.connect(credentials, delegate: ending)
        connection.close()
        connection.close()
        #expect(await ending.reason() == .ended)
        try await listener.close()
    }
}
