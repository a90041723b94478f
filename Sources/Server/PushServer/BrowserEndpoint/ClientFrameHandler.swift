import NIOCore
import NIOWebSocket

/// Checks each frame of a client before its pieces are put together: it must be masked, and must have no bit of an extension (RFC 6455,
/// sections 5.1 and 5.2).
final class ClientFrameHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias InboundOut = WebSocketFrame

    /// A frame that is not as a client's must be.
    struct Fault: Error {
        /// A sentence.
        var reason: String
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        if frame.maskKey == nil {
            context.fireErrorCaught(Fault(reason: "a client masks its frames"))
        } else if frame.rsv1 || frame.rsv2 || frame.rsv3 {
            context.fireErrorCaught(Fault(reason: "no extension was agreed on"))
        } else {
            context.fireChannelRead(data)
        }
    }
}
