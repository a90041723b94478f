import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// A TLS server that does nothing: what a connection costs NIOSSL by itself, in time to accept and in memory to keep.
///
/// It prints its port, and takes connections until its standard input ends.
@main
enum BareTLS {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else {
            print("usage: BareTLS CERTIFICATE KEY")
            exit(2)
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(arguments[1]).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: arguments[2], format: .pem)))
        configuration.minimumTLSVersion = .tlsv12
        let context = try NIOSSLContext(configuration: configuration)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 4096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOSSLServerHandler(context: context), GreetingHandler())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        FileHandle.standardOutput.write(Data("\(server.localAddress?.port ?? 0)\n".utf8))
        while readLine() != nil {}
        try await server.close()
    }
}

/// Says one byte once the handshake is over, as the device channel says its version.
private final class GreetingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    // NIOSSL keeps it until the handshake is over.
    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: [41])), promise: nil)
        context.fireChannelActive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
