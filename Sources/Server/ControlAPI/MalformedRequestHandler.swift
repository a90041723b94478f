import HTTPTypes
import NIOCore
import NIOHTTPTypes
import PushCore

/// Says in the response to a request that is no HTTP why it could not be read: the server library answers with 400 and no body.
final class MalformedRequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The parser's error.
    private var fault: (any Error)?

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fault = fault ?? error
        context.fireErrorCaught(error)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard let fault, case .head(var head) = unwrapOutboundIn(data), head.status == .badRequest,
            head.headerFields[.contentLength] == "0"
        else { return context.write(data, promise: promise) }
        let body = Self.body(fault)
        head.headerFields[.contentLength] = String(body.count)
        head.headerFields[.contentType] = "application/json; charset=utf-8"
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(bytes: body))), promise: promise)
    }

    private static func body(_ fault: any Error) -> [UInt8] {
        let message =
            "the request cannot be read as HTTP/1.1 (\(fault)); bytes that an address may not have are percent-encoded"
        let details: [JSONValue.Member] = [.init("code", .string("invalid")), .init("message", .string(message))]
        return JSONValue.object([.init("error", .object(details))]).bytes
    }
}
