import NIOCore
import NIOPosix

/// A connection on which a test writes bytes that no client would, and reads all that comes until it ends.
enum RawExchange {
    /// What the server says to `request` before it closes the connection.
    static func answer(to request: String, port: Int) async throws -> String {
        let group = MultiThreadedEventLoopGroup.singleton
        let end = group.next().makePromise(of: String.self)
        let channel = try await ClientBootstrap(group: group)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(end))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        try await channel.writeAndFlush(ByteBuffer(string: request))
        return try await end.futureResult.get()
    }

    /// Keeps what comes until the connection ends.
    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let end: EventLoopPromise<String>
        private var received = ByteBuffer()

        init(_ end: EventLoopPromise<String>) { self.end = end }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            received.writeImmutableBuffer(unwrapInboundIn(data))
        }

        func channelInactive(context: ChannelHandlerContext) { end.succeed(String(buffer: received)) }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
