import DeviceChannel
import NIOCore

/// Admits or rejects a connection at its first bytes, and then counts it as waiting for its login until the login
/// arrives, or the connection is closed. A connection that sends nothing, or was turned away, is not counted.
final class HandshakeCountHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    /// An event, fired through the pipeline: the login has arrived.
    struct LoggedIn: Sendable {}

    private enum State {
        case silent
        case waiting
        case sentAway
    }

    private let logins: LoginGate
    private let uptime: () -> Int64
    private let sentAway: () -> Void
    private var state = State.silent

    /// - Parameters:
    ///   - uptime: The uptime in milliseconds.
    ///   - sentAway: Called when the connection was turned away.
    init(
        _ logins: LoginGate, uptime: @escaping () -> Int64 = { SessionTime.now().uptime },
        sentAway: @escaping () -> Void
    ) {
        self.logins = logins
        self.uptime = uptime
        self.sentAway = sentAway
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if state == .silent {
            if let pause = logins.arrived(at: uptime()) {
                state = .sentAway
                sentAway()
                sendAway(context, pause)
            } else {
                state = .waiting
            }
        }
        if state == .waiting { context.fireChannelRead(data) }
    }

    private func sendAway(_ context: ChannelHandlerContext, _ pause: Int64) {
        do {
            try context.pipeline.syncOperations.addHandler(
                RejectBeforeTLSHandler(retryAfter: pause), position: .before(self))
        } catch {
            context.close(promise: nil)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is LoggedIn else { return context.fireUserInboundEventTriggered(event) }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        if state == .waiting { logins.left() }
    }
}
