import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Ends connections on which the body of an answered request goes on for too long.
///
/// A request may be answered before its body has ended, most often because it is refused. At most ``limit`` further bytes of
/// the body are read and thrown away, so that the client reads its answer and the connection may serve another request. Beyond
/// that nothing more is read: the connection is closed for writing at once, so that a client which still sends goes on to read its
/// answer, and altogether a second later.
final class RefusedBodyHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The highest number of bytes that are read of a body after its request was answered. Clients that send a file in one
    /// piece read the answer only after that; reading and dropping the bytes costs little.
    static let limit = 8 << 20
    private static let lingering = TimeAmount.seconds(1)

    private var requests = 0
    private var answers = 0
    /// The bytes of the current body that came after its answer.
    private var discarded = 0
    private var isEnding = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isEnding else { return }
        switch unwrapInboundIn(data) {
        case .head:
            requests += 1
            discarded = 0
        case .body(let piece):
            // Answers come in the order of the requests.
            if answers >= requests { discarded += piece.readableBytes }
            guard discarded <= Self.limit else {
                return end(context)
            }
        case .end: break
        }
        context.fireChannelRead(data)
    }

    private func end(_ context: ChannelHandlerContext) {
        isEnding = true
        context.close(mode: .output, promise: nil)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.lingering) { bound.value.close(promise: nil) }
    }

    func read(context: ChannelHandlerContext) {
        if !isEnding { context.read() }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { answers += 1 }
        context.write(data, promise: promise)
    }
}
