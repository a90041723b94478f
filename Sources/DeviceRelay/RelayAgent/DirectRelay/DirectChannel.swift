import NIOCore
import NIOPosix

/// An event of a connection, reported on a thread of the network's event loop group.
enum DirectChannelEvent: Sendable {
    /// The frames of one read, in order. Nothing more is read until ``DirectChannel/resume()``; the first read needs
    /// none.
    case frames([[UInt8]])
    /// The connection is over, whichever side ended it; reported once.
    case closed
}

/// A TCP connection that carries frames, each with its length before it in four bytes. May be used on any thread.
final class DirectChannel: Sendable {
    /// How long a frame is at most, in bytes.
    static let longestFrame = 384 << 10

    private let channel: any Channel

    init(_ channel: any Channel) { self.channel = channel }

    /// Writes a frame; after the end nothing happens.
    func send(_ frame: [UInt8]) {
        var buffer = channel.allocator.buffer(capacity: frame.count + 4)
        buffer.writeInteger(UInt32(frame.count))
        buffer.writeBytes(frame)
        channel.writeAndFlush(buffer, promise: nil)
    }

    /// Reads on.
    func resume() { channel.eventLoop.execute { [channel] in channel.read() } }

    /// Ends it.
    func close() { channel.close(promise: nil) }

    /// Listens on a port that the system chooses, for connections from private networks and from this machine's own
    /// links. Both versions of the IP protocol are used where the system has them.
    ///
    /// - Parameter accept: Called with each connection before its first frame is read.
    static func listen(
        group: any EventLoopGroup,
        accept: @escaping @Sendable (DirectChannel) -> @Sendable (DirectChannelEvent) -> Void
    ) async throws -> any Channel {
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 16)
            .childChannelOption(.autoRead, value: false)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let address = channel.remoteAddress?.ipAddress, LocalAddress.isNear(address) else {
                        throw ChannelError.operationUnsupported
                    }
                    try channel.pipeline.syncOperations.addHandler(
                        DirectFrames(events: accept(DirectChannel(channel))))
                }
            }
        do { return try await bootstrap.bind(host: "::", port: 0).get() } catch {
            return try await bootstrap.bind(host: "0.0.0.0", port: 0).get()
        }
    }

    /// Connects within two seconds.
    ///
    /// - Parameter interface: The interface's number, which an address that counts on one link alone needs.
    static func connect(
        to address: String, port: UInt16, interface: Int32, group: any EventLoopGroup,
        events: @escaping @Sendable (DirectChannelEvent) -> Void
    ) -> EventLoopFuture<DirectChannel> {
        let place: SocketAddress
        do { place = try Self.place(of: address, port: port, interface: interface) } catch {
            return group.next().makeFailedFuture(error)
        }
        return ClientBootstrap(group: group)
            .connectTimeout(.seconds(2))
            .channelOption(.autoRead, value: false)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(DirectFrames(events: events))
                }
            }
            .connect(to: place).map { DirectChannel($0) }
    }

    private static func place(of address: String, port: UInt16, interface: Int32) throws -> SocketAddress {
        let plain = try SocketAddress(ipAddress: address, port: Int(port))
        guard case .v6(let six) = plain, NetworkAddress(address)?.isLinkLocal == true else { return plain }
        var raw = six.address
        raw.sin6_scope_id = UInt32(clamping: interface)
        return SocketAddress(raw, host: "")
    }
}

/// Cuts what comes into frames. A frame that is too long, or an error, ends the connection.
final class DirectFrames: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let events: @Sendable (DirectChannelEvent) -> Void
    private var waiting = ByteBuffer()
    private var frames: [[UInt8]] = []

    init(events: @escaping @Sendable (DirectChannelEvent) -> Void) { self.events = events }

    /// Reads from the beginning: NIO forgets a read that is asked for before the channel is registered.
    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var data = unwrapInboundIn(data)
        waiting.writeBuffer(&data)
        while let length = waiting.getInteger(at: waiting.readerIndex, as: UInt32.self) {
            guard length > 0, length <= DirectChannel.longestFrame else { return context.close(promise: nil) }
            guard waiting.readableBytes >= 4 + Int(length) else { break }
            waiting.moveReaderIndex(forwardBy: 4)
            frames.append(waiting.readBytes(length: Int(length)) ?? [])
        }
        waiting.discardReadBytes()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard !frames.isEmpty else { return context.read() }
        events(.frames(frames))
        frames = []
    }

    func channelInactive(context: ChannelHandlerContext) { events(.closed) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
