import DeviceChannel
import NIOCore

/// Notifies a connection, instead of TLS, when its device must reconnect, and waits a second so that it can read that.
final class RejectBeforeTLSHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let goodbyeTime = TimeAmount.seconds(1)

    private let pause: Int64
    private var deadline: Scheduled<Void>?

    init(retryAfter pause: Int64) { self.pause = pause }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { reject(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        reject(context)
        context.fireChannelActive()
    }

    /// Reads and drops the device's bytes: a connection that is closed with unread bytes may lose the last ones written
    /// to it.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
        deadline = nil
    }

    private func reject(_ context: ChannelHandlerContext) {
        guard deadline == nil else { return }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        deadline = context.eventLoop.scheduleTask(in: Self.goodbyeTime) { bound.value.close(promise: nil) }
        let words = context.channel.allocator.buffer(bytes: MCSRejection.bytes(retryAfter: pause))
        context.writeAndFlush(wrapOutboundOut(words)).whenComplete { _ in
            bound.value.close(mode: .output, promise: nil)
        }
    }
}
