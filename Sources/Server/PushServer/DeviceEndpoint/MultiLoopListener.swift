import NIOCore
import NIOPosix
import Synchronization

/// A listening socket of several event loops, of which one at a time accepts its connections (``AcceptingLoop``).
///
/// NIO's own server channel assigns connections to event loops in rotation. Two devices of one person would be on two
/// of them, and each message between them would wake a second thread.
final class MultiLoopListener: Sendable {
    private struct State: Sendable {
        var accepting: AcceptingLoop
        /// The socket's channel on each event loop.
        var channels: [any Channel] = []
    }

    private let state: Mutex<State>

    private init(loops: Int) { state = Mutex(State(accepting: AcceptingLoop(of: loops))) }

    /// The port of the socket.
    var port: Int? { state.withLock { $0.channels.first?.localAddress?.port } }

    /// Listens on an address.
    ///
    /// - Parameters:
    ///   - backlog: The maximum number of connections that wait to be accepted.
    ///   - bootstrap: Makes the bootstrap that accepts the connections of one event loop.
    /// - Throws: `IOError`, and the errors of resolving the host's name.
    static func listen(
        host: String, port: Int, backlog: Int32, on group: any EventLoopGroup,
        bootstrap: @Sendable (any EventLoop) -> ServerBootstrap
    ) async throws -> MultiLoopListener {
        let loops = Array(group.makeIterator())
        let listener = MultiLoopListener(loops: loops.count)
        do {
            let socket = try BoundSocket.bound(to: SocketAddress.makeAddressResolvingHost(host, port: port))
            for (index, loop) in loops.enumerated() {
                try await listener.add(bootstrap(loop), descriptor: try socket.duplicate(), index: index)
            }
            // NIO has called `listen` with 128, whatever its option.
            try socket.listen(backlog: backlog)
        } catch {
            await listener.close()
            throw error
        }
        listener.follow()
        return listener
    }

    /// Stops listening.
    func close() async { for channel in state.withLock(\.channels) { try? await channel.close() } }

    private func add(_ bootstrap: ServerBootstrap, descriptor: Int32, index: Int) async throws {
        let channel = try await bootstrap.serverChannelOption(.autoRead, value: false)
            .withBoundSocket(descriptor).get()
        state.withLock { $0.channels.append(channel) }
        try await channel.eventLoop.submit {
            try channel.pipeline.syncOperations.addHandler(
                AcceptedConnections(
                    opened: { self.change { $0.opened(on: index) } }, closed: { self.change { $0.closed(on: index) } }),
                position: .first)
        }.get()
    }

    private func change(_ step: (inout AcceptingLoop) -> Void) {
        let isChanged = state.withLock { state in
            let before = state.accepting.current
            step(&state.accepting)
            return state.accepting.current != before
        }
        if isChanged { follow() }
    }

    /// Lets the current loop read the socket. Each loop checks for itself, so that its last check is the newest.
    private func follow() {
        for (index, channel) in state.withLock(\.channels).enumerated() {
            channel.eventLoop.execute {
                let isAccepting = self.state.withLock { $0.accepting.current == index }
                // A closed listener has no options.
                try? channel.syncOptions?.setOption(.autoRead, value: isAccepting)
            }
        }
    }
}

/// Counts the connections of a listening channel.
private final class AcceptedConnections: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private let opened: @Sendable () -> Void
    private let closed: @Sendable () -> Void

    init(opened: @escaping @Sendable () -> Void, closed: @escaping @Sendable () -> Void) {
        self.opened = opened
        self.closed = closed
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let connection = unwrapInboundIn(data)
        opened()
        connection.closeFuture.whenComplete { [closed] _ in closed() }
        context.fireChannelRead(data)
    }
}
