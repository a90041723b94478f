import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// TLS connections and nothing else: what one costs NIOSSL by itself, in time to accept and in memory to keep.
///
/// `serve` prints its port and sends one byte to each that comes. `connect` opens connections to a port, keeps them, and prints
/// `ready` once each has got its first byte. Both go on until their standard input ends.
@main
enum BareTLS {
    static func main() async throws {
        let arguments = CommandLine.arguments
        switch (arguments.dropFirst().first, arguments.count) {
        case ("serve", 4): try await serve(certificate: arguments[2], key: arguments[3])
        case ("connect", 7):
            guard let port = Int(arguments[2]), let count = Int(arguments[3]), let atOnce = Int(arguments[5]),
                atOnce > 0
            else { fallthrough }
            try await connect(
                port: port, count: count, protocolName: arguments[4], atOnce: atOnce, trusting: arguments[6])
        default:
            print("usage: BareTLS serve CERTIFICATE KEY | BareTLS connect PORT COUNT h2|mcs AT-ONCE CERTIFICATE")
            exit(2)
        }
        while readLine() != nil {}
    }

    private static func serve(certificate: String, key: String) async throws {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
        configuration.minimumTLSVersion = .tlsv12
        let context = try NIOSSLContext(configuration: configuration)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 4096)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOSSLServerHandler(context: context), GreetingHandler(greeting: [41]))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        tell("\(server.localAddress?.port ?? 0)")
    }

    /// Opens the connections, at most `atOnce` of them under way at a time. The server's certificate is verified, as a device
    /// verifies it.
    private static func connect(
        port: Int, count: Int, protocolName: String, atOnce: Int, trusting certificate: String
    ) async throws {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(certificate))
        let isHTTP2 = protocolName == "h2"
        if isHTTP2 { configuration.applicationProtocols = ["h2"] }
        let context = try NIOSSLContext(configuration: configuration)
        let greeting = isHTTP2 ? Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0] : []
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                if number >= atOnce { try await group.next() }
                group.addTask { try await connectOne(port, context, greeting) }
            }
            try await group.waitForAll()
        }
        tell("ready")
    }

    private static func connectOne(_ port: Int, _ context: NIOSSLContext, _ greeting: [UInt8]) async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let answered = group.next().makePromise(of: Void.self)
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
        _ = try await ClientBootstrap(group: group)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOSSLClientHandler(context: context, serverHostname: nil),
                        GreetingHandler(greeting: greeting, answered: answered))
                }
            }
            .connect(to: address).get()
        try await answered.futureResult.get()
    }

    private static func tell(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}

/// Says its greeting, and notes the first answer.
private final class GreetingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let greeting: [UInt8]
    private var answered: EventLoopPromise<Void>?

    init(greeting: [UInt8], answered: EventLoopPromise<Void>? = nil) {
        self.greeting = greeting
        self.answered = answered
    }

    // NIOSSL keeps it until the handshake is over.
    func channelActive(context: ChannelHandlerContext) {
        if !greeting.isEmpty { context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: greeting)), promise: nil) }
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        answered?.succeed(())
        answered = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        answered?.fail(ChannelError.eof)
        answered = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
