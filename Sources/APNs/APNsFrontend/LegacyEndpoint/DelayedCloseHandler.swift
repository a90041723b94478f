import NIOCore

/// Closes the connection of a peer that sends nothing more, one tick of the event loop after the end of its input.
///
/// A script's last packets may contain its certificate, a push and the end of the stream at once. NIOSSL processes the
/// result of a certificate check only in the next tick, and completes no handshake after the end. So this handler
/// precedes it, on a channel that allows half-closure: the result was queued before the end was read.
final class DelayedCloseHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else { return context.fireUserInboundEventTriggered(event) }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.eventLoop.execute { bound.value.close(promise: nil) }
    }
}
