import Logging
import NIOCore
import NIOPosix
import NIOTLS

/// A listening socket that passes each TLS connection on, undecrypted, to a port of this machine by the name that the
/// client asks for (RFC 6066, section 3).
package final class SNIListener: Sendable {
    private let channel: any Channel

    private init(channel: any Channel) { self.channel = channel }

    /// The port of the listener.
    package var port: Int { channel.localAddress?.port ?? 0 }

    /// Binds and begins to accept.
    ///
    /// - Parameter target: The port on loopback for a server name; `nil` is a client that named none.
    /// - Throws: The socket's error, such as `EADDRINUSE`.
    package static func bind(
        host: String, port: Int, limiter: ConnectionLimiter, on group: any EventLoopGroup,
        target: @escaping @Sendable (_ name: String?) -> Int
    ) async throws -> SNIListener {
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { client in
                guard limiter.admit(client) else { return client.close() }
                return client.eventLoop.makeCompletedFuture {
                    try client.pipeline.syncOperations.addHandler(
                        ByteToMessageHandler(
                            SNIHandler { result in
                                let name: String? = if case .hostname(let name) = result { name } else { nil }
                                return connect(client, port: target(name))
                            }))
                }
            }
            .bind(host: host, port: port).get()
        return SNIListener(channel: channel)
    }

    /// Connects a client's channel with a port of this machine; the client's bytes so far are passed on after it.
    private static func connect(_ client: any Channel, port: Int) -> EventLoopFuture<Void> {
        ClientBootstrap(group: client.eventLoop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.autoRead, value: false)
            .connect(host: "127.0.0.1", port: port)
            .flatMapThrowing { server in
                let (left, right) = PipeHandler.pair()
                do {
                    try client.pipeline.syncOperations.addHandler(left)
                    try server.pipeline.syncOperations.addHandler(right)
                    try server.syncOptions?.setOption(.autoRead, value: true)
                } catch {
                    // The client has gone meanwhile.
                    server.close(promise: nil)
                    throw error
                }
            }
            .flatMapErrorThrowing { error in
                client.close(promise: nil)
                throw error
            }
    }

    /// Stops accepting; connections end with the listeners behind it.
    package func close() async {
        // A closed listener needs no further closing.
        try? await channel.close().get()
    }
}

/// A handler that writes what its channel reads into its partner's channel. Both are on one event loop.
private final class PipeHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var context: ChannelHandlerContext?
    private var partner: PipeHandler?
    private var wantsRead = false

    static func pair() -> (PipeHandler, PipeHandler) {
        let (left, right) = (PipeHandler(), PipeHandler())
        left.partner = right
        right.partner = left
        return (left, right)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        partner = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        partner?.context?.writeAndFlush(wrapOutboundOut(unwrapInboundIn(data)), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        partner?.context?.close(promise: nil)
        partner = nil
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable, let partner, partner.wantsRead {
            partner.wantsRead = false
            partner.context?.read()
        }
        context.fireChannelWritabilityChanged()
    }

    /// Reads only while the other side takes what is written.
    func read(context: ChannelHandlerContext) {
        if partner?.context?.channel.isWritable ?? true { context.read() } else { wantsRead = true }
    }
}
