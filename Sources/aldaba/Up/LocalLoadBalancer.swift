import AldabaConfiguration
import NIOCore
import NIOPosix
import Synchronization

/// The port in front of several servers: each connection is passed on to the next server that accepts it.
final class LocalLoadBalancer: Sendable {
    private struct State {
        /// The servers' ports, by the names of their processes.
        var targets: [String: Int] = [:]
        var next = 0
    }

    private let host: String
    private let state = Mutex(State())

    /// Passes connections on to ports of a host.
    init(host: String) { self.host = host }

    /// Sets the port of a server, where it has one.
    func set(_ port: Int, of name: String) { state.withLock { $0.targets[name] = port } }

    /// Listens until the task is cancelled.
    ///
    /// - Parameters:
    ///   - port: The port; 0 for a free one.
    ///   - bound: Receives the port.
    func run(port: Int, bound: @Sendable (Int) -> Void) async throws {
        let listener: any Channel
        do {
            listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.autoRead, value: false)
                .childChannelOption(.allowRemoteHalfClosure, value: true)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture { self.accept(channel) }
                }.bind(host: host, port: port).get()
        } catch { throw ServeCommand.cannotListen(host, port: port, error: error) }
        bound(listener.localAddress?.port ?? port)
        await withTaskCancellationHandler {
            try? await listener.closeFuture.get()
        } onCancel: {
            listener.close(promise: nil)
        }
    }

    private var targets: [Int] {
        state.withLock { state in
            let ports = state.targets.sorted { $0.key < $1.key }.map(\.value)
            guard !ports.isEmpty else { return [] }
            state.next += 1
            return (0..<ports.count).map { ports[(state.next + $0) % ports.count] }
        }
    }

    private func accept(_ channel: any Channel) { connect(channel, targets[...]) }

    private func connect(_ channel: any Channel, _ targets: ArraySlice<Int>) {
        guard let port = targets.first else { return channel.close(promise: nil) }
        ClientBootstrap(group: channel.eventLoop).connectTimeout(.seconds(1)).channelOption(.autoRead, value: false)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connect(host: host, port: port).assumeIsolated().whenComplete { result in
                switch result {
                case .failure: self.connect(channel, targets.dropFirst())
                case .success(let server):
                    let pair = ProxyHandler.pair()
                    do {
                        try channel.pipeline.syncOperations.addHandler(pair.0)
                        try server.pipeline.syncOperations.addHandler(pair.1)
                    } catch {
                        server.close(promise: nil)
                        return channel.close(promise: nil)
                    }
                    pair.0.begin()
                    pair.1.begin()
                }
            }
    }
}

/// Passes the bytes of one connection on to another: it reads when the other one can be written to. On one event loop.
private final class ProxyHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private weak var other: ProxyHandler?
    private var context: ChannelHandlerContext?
    private var wantsRead = false
    private var hasBegun = false

    static func pair() -> (ProxyHandler, ProxyHandler) {
        let (first, second) = (ProxyHandler(), ProxyHandler())
        (first.other, second.other) = (second, first)
        return (first, second)
    }

    /// Reads from now on. A connection that was just accepted may not be registered with its event loop yet: a read before
    /// that is lost, and so is every later one.
    func begin() {
        hasBegun = true
        if context?.channel.isActive == true { context?.read() }
    }

    func channelActive(context: ChannelHandlerContext) {
        if hasBegun { context.read() }
        context.fireChannelActive()
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { other?.context?.write(data, promise: nil) }
    func channelReadComplete(context: ChannelHandlerContext) {
        other?.context?.flush()
        if other?.context?.channel.isWritable == true { context.read() } else { wantsRead = true }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard context.channel.isWritable, let other, other.wantsRead else { return }
        other.wantsRead = false
        other.context?.read()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent {
            other?.context?.close(mode: .output, promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) { other?.context?.close(promise: nil) }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
