import NIOCore
import NIOPosix

/// A connection on which a test writes bytes that no client would, and reads all that comes until it ends.
struct RawExchange {
    private let channel: any Channel
    private let end: EventLoopFuture<String>
    private let begun: EventLoopFuture<Void>

    /// What the server says to `request` before it closes the connection.
    static func answer(to request: String, port: Int) async throws -> String {
        let exchange = try await begin(port: port)
        try await exchange.write(request)
        return try await exchange.answer()
    }

    /// Connects.
    static func begin(port: Int) async throws -> RawExchange {
        let group = MultiThreadedEventLoopGroup.singleton
        let (begun, end) = (group.next().makePromise(of: Void.self), group.next().makePromise(of: String.self))
        let channel = try await ClientBootstrap(group: group)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(begun: begun, end: end))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        return RawExchange(channel: channel, end: end.futureResult, begun: begun.futureResult)
    }

    func write(_ text: String) async throws { try await channel.writeAndFlush(ByteBuffer(string: text)) }

    func close() async throws { try await channel.close() }

    /// Waits until the server says something.
    func answerBegins() async throws { try await begun.get() }

    /// All that the server says until it closes the connection.
    func answer() async throws -> String { try await end.get() }

    /// Keeps what comes until the connection ends.
    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let begun: EventLoopPromise<Void>
        private let end: EventLoopPromise<String>
        private var received = ByteBuffer()

        init(begun: EventLoopPromise<Void>, end: EventLoopPromise<String>) {
            self.begun = begun
            self.end = end
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            received.writeImmutableBuffer(unwrapInboundIn(data))
            begun.succeed()
        }

        func channelInactive(context: ChannelHandlerContext) {
            begun.succeed()
            end.succeed(String(buffer: received))
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
