import DeviceChannel
import NIOCore
import NIOPosix
import NIOSSL

/// A TLS connection over which a test writes bytes of its own and sees what comes back.
final class RawDevice: Sendable {
    struct State: Sendable {
        var version: UInt8?
        var packets: [MCSPacket] = []
        var isClosed = false
    }

    let state: Watched<State>
    private let channel: any Channel

    init(port: Int, certificate: TestCertificate, group: any EventLoopGroup) async throws {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates([
            try NIOSSLCertificate(bytes: Array(certificate.pem.utf8), format: .pem)
        ])
        let context = try NIOSSLContext(configuration: configuration)
        let state = Watched(State())
        self.state = state
        channel = try await ClientBootstrap(group: group)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        NIOSSLClientHandler(context: context, serverHostname: nil), Collector(state),
                    ])
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
    }

    func write(_ bytes: [UInt8]) async throws {
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes))
    }

    func write(_ packets: [MCSPacket], version: UInt8? = nil) async throws {
        var bytes = version.map { [$0] } ?? []
        for packet in packets { try packet.encode(into: &bytes) }
        try await write(bytes)
    }

    func close() async throws {
        try await channel.close()
    }

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let state: Watched<State>
        private var decoder = MCSFrameDecoder()

        init(_ state: Watched<State>) { self.state = state }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            decoder.append(unwrapInboundIn(data).readableBytesView)
            while let element = try? decoder.next() {
                state.change { state in
                    switch element {
                    case .version(let version): state.version = version
                    case .packet(let packet): state.packets.append(packet)
                    }
                }
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            state.change { $0.isClosed = true }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }
    }
}

extension MCSLoginRequest {
    /// A login as the scripted clients send it.
    init(device: UInt64, secret: UInt64, received: [String] = []) {
        self.init()
        id = "test"
        domain = "mcs.android.com"
        user = String(device)
        authToken = String(secret)
        receivedPersistentID = received
        useRmq2 = true
    }
}
