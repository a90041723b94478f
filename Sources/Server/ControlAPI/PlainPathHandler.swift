import APNsProtocol
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Decodes what a client percent-encoded in a request's path without need. Some clients write `messages%3Asend`.
///
/// Other encodings stay as they are and are decoded with the parts of the path.
final class PlainPathHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data), let path = head.path, path.utf8.contains(UInt8(ascii: "%"))
        else { return context.fireChannelRead(data) }
        head.path = String(decoding: PlainPath.bytes(path.utf8), as: UTF8.self)
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}
