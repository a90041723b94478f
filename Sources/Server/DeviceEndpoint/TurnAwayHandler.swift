import MCSWire
import NIOCore

/// Tells a connection, in place of TLS, when its device is to come again, and gives it a second to hear that.
final class TurnAwayHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let goodbyeTime = TimeAmount.seconds(1)

    private let pause: Int64
    private var deadline: Scheduled<Void>?

    init(retryAfter pause: Int64) { self.pause = pause }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { turnAway(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        turnAway(context)
        context.fireChannelActive()
    }

    /// What the device says is read and dropped: a connection that is closed with unread bytes may lose its last words.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
        deadline = nil
    }

    private func turnAway(_ context: ChannelHandlerContext) {
        guard deadline == nil else { return }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        deadline = context.eventLoop.scheduleTask(in: Self.goodbyeTime) { bound.value.close(promise: nil) }
        let words = context.channel.allocator.buffer(bytes: MCSTurnAway.bytes(retryAfter: pause))
        context.writeAndFlush(wrapOutboundOut(words)).whenComplete { _ in
            bound.value.close(mode: .output, promise: nil)
        }
    }
}
