import HTTPTypes
import NIOCore
import NIOHTTPTypes
import Networking

/// Reads more slowly from connections without a credential whose requests are refused.
///
/// After each answer of 400 to 499 nothing is read for ``step`` times the number of such answers in a row, at most
/// ``longest``. Any other answer ends the row, and a connection that has shown a valid credential is read at once.
final class RefusalDelayHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The pause after the first refusal, by which each further one is longer.
    static let step = TimeAmount.milliseconds(10)
    /// The longest pause.
    static let longest = TimeAmount.milliseconds(100)

    private var isProven = false
    private var refusals: Int64 = 0
    private var pausedUntil: NIODeadline?
    private var timer: Scheduled<Void>?

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is AdmissionHandler.Proven { isProven = true }
        context.fireUserInboundEventTriggered(event)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .head(let head) = unwrapOutboundIn(data), head.status.kind != .informational {
            refusals = head.status.kind == .clientError && !isProven ? refusals + 1 : 0
            let pause = min(.nanoseconds(refusals * Self.step.nanoseconds), Self.longest)
            pausedUntil = refusals > 0 ? context.eventLoop.now + pause : nil
        }
        context.write(data, promise: promise)
    }

    func read(context: ChannelHandlerContext) {
        guard let end = pausedUntil, context.eventLoop.now < end else { return context.read() }
        guard timer == nil else { return }
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(deadline: end) {
            bound.value.handler.timer = nil
            bound.value.context.read()
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }
}
