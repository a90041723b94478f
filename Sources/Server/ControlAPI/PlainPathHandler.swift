import HTTPTypes
import NIOCore
import NIOHTTPTypes
import PushCore

/// Decodes what a client percent-encoded in a request's path without need: the unreserved characters (RFC 3986, section 6.2.2.2) and
/// the colon. Some clients write `messages%3Asend`.
///
/// Other encodings stay as they are and are decoded with the parts of the path.
final class PlainPathHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data), let path = head.path, path.utf8.contains(UInt8(ascii: "%"))
        else { return context.fireChannelRead(data) }
        head.path = Self.plain(path)
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    /// The path in its plain form; a query is left as it is.
    static func plain(_ path: String) -> String {
        let bytes = Array(path.utf8)
        var result: [UInt8] = []
        var offset = 0
        while offset < bytes.count, bytes[offset] != UInt8(ascii: "?") {
            if bytes[offset] == UInt8(ascii: "%"), offset + 2 < bytes.count,
                let high = Hexadecimal.value(bytes[offset + 1]),
                let low = Hexadecimal.value(bytes[offset + 2]), isPlain(high << 4 | low)
            {
                result.append(high << 4 | low)
                offset += 3
            } else {
                result.append(bytes[offset])
                offset += 1
            }
        }
        return String(decoding: result + bytes[offset...], as: UTF8.self)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (97...122).contains(byte) || (65...90).contains(byte) || (48...57).contains(byte) || "-._~:".utf8.contains(byte)
    }
}
