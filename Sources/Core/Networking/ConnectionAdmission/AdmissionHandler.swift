import NIOCore

/// The first handler of an admitted connection, until the connection is proven. It closes below TLS.
///
/// When a connection has not proven itself in time, the handler fires ``Overdue``, so that its protocol can send a
/// closing message, and closes the connection a second later.
package final class AdmissionHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer

    /// An event: another connection replaces this one.
    struct Replaced: Sendable {}

    /// An event: the peer has presented a valid credential. Fired through the pipeline.
    package struct Proven: Sendable {
        /// Creates the event.
        package init() {}
    }

    /// A request without a credential was served: the time to show one begins anew.
    struct Served: Sendable {}

    /// The connection has not proven itself in time and is closed in a second. Fired through the pipeline.
    package struct Overdue: Sendable {}

    private static let goodbyeTime = TimeAmount.seconds(1)

    private let proofTimeout: TimeAmount
    private var deadline: Scheduled<Void>?
    private var isOverdue = false

    init(proofTimeout: TimeAmount) { self.proofTimeout = proofTimeout }

    package func handlerAdded(context: ChannelHandlerContext) { startTimer(context) }

    private func startTimer(_ context: ChannelHandlerContext) {
        deadline?.cancel()
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        deadline = context.eventLoop.scheduleTask(in: proofTimeout) { bound.value.handler.overdue(bound.value.context) }
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
        deadline = nil
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is Replaced: context.close(promise: nil)
        case is Proven:
            context.fireUserInboundEventTriggered(event)
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        case is Served: if !isOverdue { startTimer(context) }
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    private func overdue(_ context: ChannelHandlerContext) {
        isOverdue = true
        context.fireUserInboundEventTriggered(Overdue())
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        deadline = context.eventLoop.scheduleTask(in: Self.goodbyeTime) { bound.value.close(promise: nil) }
    }
}
