import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes

/// The refusal of a body that comes too slowly: 408 (RFC 9110, section 15.5.9).
struct SlowBody: HTTPResponseError {
    let status = HTTPResponse.Status.requestTimeout

    func response(from request: Request, context: some RequestContext) throws -> Response { Response(status: status) }
}

/// Gives up bodies that come too slowly, so that nobody holds for hours what a request needs.
///
/// A body has ``grace``, and a second more for every ``bytesPerSecond`` bytes that came. Only the time counts in which the server
/// waits for the peer: a server that is slow to read refuses nobody. The reader of a body that is too slow gets ``SlowBody``;
/// the connection is closed behind the answer.
final class SlowBodyHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The time that every body has.
    static let grace = TimeAmount.seconds(30)
    /// The slowest average rate beyond that time.
    static let bytesPerSecond: Int64 = 8192

    private var isInBody = false
    private var isSlow = false
    private var received: Int64 = 0
    /// The time for which the peer was waited for.
    private var waited = TimeAmount.zero
    private var waitingSince: NIODeadline?
    private var timer: Scheduled<Void>?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isSlow else { return }
        stopWaiting(at: context.eventLoop.now)
        switch unwrapInboundIn(data) {
        case .head:
            isInBody = true
            (received, waited) = (0, .zero)
        case .body(let piece): received += Int64(piece.readableBytes)
        case .end: isInBody = false
        }
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        guard !isSlow else { return }
        if isInBody, waitingSince == nil { startWaiting(context) }
        context.read()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard isSlow else { return context.write(data, promise: promise) }
        switch unwrapOutboundIn(data) {
        case .head(var head):
            head.headerFields[.connection] = "close"
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            context.writeAndFlush(data, promise: promise)
            context.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { stopWaiting(at: context.eventLoop.now) }

    func channelInactive(context: ChannelHandlerContext) {
        stopWaiting(at: context.eventLoop.now)
        context.fireChannelInactive()
    }

    private func startWaiting(_ context: ChannelHandlerContext) {
        let now = context.eventLoop.now
        waitingSince = now
        let earned = TimeAmount.nanoseconds(received * (1_000_000_000 / Self.bytesPerSecond))
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(deadline: now + (Self.grace + earned - waited)) {
            bound.value.handler.giveUp(bound.value.context)
        }
    }

    private func stopWaiting(at now: NIODeadline) {
        timer?.cancel()
        timer = nil
        if let since = waitingSince { waited = waited + (now - since) }
        waitingSince = nil
    }

    private func giveUp(_ context: ChannelHandlerContext) {
        isSlow = true
        stopWaiting(at: context.eventLoop.now)
        context.fireErrorCaught(SlowBody())
    }
}
