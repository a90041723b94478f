import Logging
import Metrics
import NIOCore
import PushCore

/// Logs the reason why a listener cannot accept, most often that no descriptor is left (EMFILE, ENFILE).
///
/// It is a handler in the listening channel's pipeline. It pauses accepting for a second after each failure, since the
/// listening socket stays readable and would make the loop spin. It writes a log line at most once in ten seconds.
package final class AcceptFailureLog: ChannelDuplexHandler {
    package typealias InboundIn = any Channel
    package typealias OutboundIn = any Channel

    private let listener: String
    private let logger: Logger
    private let failures: Counter
    private let pause: TimeAmount
    private var silentUntil = NIODeadline.uptimeNanoseconds(0)
    private var pausedUntil: NIODeadline?
    private var resumption: Scheduled<Void>?

    /// Creates the handler of one listening channel.
    ///
    /// - Parameter listener: The listener's name in metrics and log lines.
    package init(listener: String, logger: Logger, pause: TimeAmount = .seconds(1)) {
        self.listener = listener
        self.logger = logger
        self.pause = pause
        failures = Counter(label: "aldaba_accept_failures_total", dimensions: [("listener", listener)])
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let failure = error as? IOError else { return context.fireErrorCaught(error) }
        failures.increment()
        let now = context.eventLoop.now
        pausedUntil = now + pause
        if now >= silentUntil {
            silentUntil = now + .seconds(10)
            logger.error(
                "connections cannot be accepted: \(failure); the limit of open files may be too low",
                metadata: [LogKey.listener: "\(listener)"])
        }
    }

    package func read(context: ChannelHandlerContext) {
        guard let pausedUntil, context.eventLoop.now < pausedUntil else { return context.read() }
        guard resumption == nil else { return }
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        resumption = context.eventLoop.scheduleTask(deadline: pausedUntil) {
            bound.value.handler.resumption = nil
            bound.value.context.read()
        }
    }

    package func channelInactive(context: ChannelHandlerContext) {
        resumption?.cancel()
        resumption = nil
        context.fireChannelInactive()
    }
}
