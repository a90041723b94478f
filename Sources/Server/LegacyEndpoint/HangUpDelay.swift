import NIOCore

/// Closes the connection of a peer that sends nothing more, one turn of the event loop after the end of its input.
///
/// A script's last flight may bring its certificate, a push and the end of the stream at once. NIOSSL takes the answer
/// about a certificate only in the next turn, and knows of no handshake that is completed after the end. So this
/// handler stands before it, on a channel that allows half-closure: the answer was queued before the end was seen.
final class HangUpDelay: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else { return context.fireUserInboundEventTriggered(event) }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.eventLoop.execute { bound.value.close(promise: nil) }
    }
}
