import NIOCore

/// The first handler of an admitted connection. It closes below TLS, and tells the limiter of the end.
///
/// A connection that does not prove itself in time is told by ``Overdue``, so that its protocol can say goodbye, and
/// closed a second later.
public final class AdmissionHandler: ChannelInboundHandler {
    public typealias InboundIn = ByteBuffer

    /// Another connection takes this one's place.
    struct GiveWay: Sendable {}

    /// The peer has shown a valid credential.
    struct Proven: Sendable {}

    /// The connection has not proven itself in time and is closed in a second. Fired through the pipeline.
    public struct Overdue: Sendable {}

    private static let goodbyeTime = TimeAmount.seconds(1)

    private let limiter: ConnectionLimiter
    private let proofTimeout: TimeAmount
    private var connection: ObjectIdentifier?
    private var deadline: Scheduled<Void>?

    init(limiter: ConnectionLimiter, proofTimeout: TimeAmount) {
        self.limiter = limiter
        self.proofTimeout = proofTimeout
    }

    public func handlerAdded(context: ChannelHandlerContext) {
        connection = ObjectIdentifier(context.channel)
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        deadline = context.eventLoop.scheduleTask(in: proofTimeout) { bound.value.handler.overdue(bound.value.context) }
    }

    public func handlerRemoved(context: ChannelHandlerContext) { ended() }

    public func channelInactive(context: ChannelHandlerContext) {
        ended()
        context.fireChannelInactive()
    }

    public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is GiveWay: context.close(promise: nil)
        case is Proven:
            deadline?.cancel()
            deadline = nil
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    private func overdue(_ context: ChannelHandlerContext) {
        guard connection != nil else { return }
        context.fireUserInboundEventTriggered(Overdue())
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        deadline = context.eventLoop.scheduleTask(in: Self.goodbyeTime) { bound.value.close(promise: nil) }
    }

    private func ended() {
        deadline?.cancel()
        deadline = nil
        guard let connection else { return }
        self.connection = nil
        limiter.closed(connection)
    }
}
