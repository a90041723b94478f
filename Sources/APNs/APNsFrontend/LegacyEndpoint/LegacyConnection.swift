import NIOCore
import NIOTLS
import Networking
import PushServer

/// A provider's connection to the gateway: the shell around ``LegacySession``. Confined to its event loop.
///
/// It continues without its channel until every push that had arrived is processed: scripts write and disconnect.
final class LegacyConnection: ChannelDuplexHandler, CertifiedHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The time for which bytes after an error packet are read and discarded, so that the packet arrives. A socket that
    /// is closed with unread bytes is reset, and loses the bytes that were written.
    private static let lingering = TimeAmount.seconds(2)
    /// The same time while the server stops.
    private static let lastLingering = TimeAmount.milliseconds(200)

    private let check: CertificateCheck
    private let intake: LegacyIntake
    private let registry: LegacyConnectionRegistry
    private let loop: any EventLoop
    private var session = LegacySession()
    /// The peer's certificate; `nil` until it was found valid: until then bytes are buffered in ``early``.
    private var certificate: [UInt8]?
    private var early: [ByteBuffer] = []
    private var hasEnded = false
    private var isStopping = false
    private var isWaitingToRead = false
    private var mayRead = true
    private var context: ChannelHandlerContext?

    init(check: CertificateCheck, intake: LegacyIntake, registry: LegacyConnectionRegistry, loop: any EventLoop) {
        self.check = check
        self.intake = intake
        self.registry = registry
        self.loop = loop
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func begin(_ certificate: [UInt8], app: RegisteredApp, context: ChannelHandlerContext) {
        self.certificate = certificate
        if registry.opened(self, on: loop) { return stop() }
        let waiting = early
        early = []
        for buffer in waiting { follow(session.received(buffer.readableBytesView)) }
        if hasEnded { follow(session.inputEnded()) }
        if waiting.isEmpty { follow(.read) }
    }

    /// Stops the connection, since the server stops.
    func stop() {
        isStopping = true
        follow(session.stop())
    }

    /// Ends the connection at once.
    func close() { context?.close(promise: nil) }

    // MARK: The channel

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        guard certificate != nil else { return early.append(buffer) }
        follow(session.received(buffer.readableBytesView))
    }

    func read(context: ChannelHandlerContext) {
        guard mayRead else {
            isWaitingToRead = true
            return
        }
        context.read()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted:
            mayRead = false
            check.judge(context, for: self)
        case ChannelEvent.inputClosed: endInput()
        case is IdleStateHandler.IdleStateEvent: context.close(promise: nil)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        endInput()
        if certificate != nil, session.isClosed { registry.closed(self) }
        context.fireChannelInactive()
    }

    /// Records that the provider sends nothing more.
    private func endInput() {
        hasEnded = true
        if certificate != nil { follow(session.inputEnded()) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    // MARK: The session

    private func follow(_ directive: LegacySession.Directive?) {
        switch directive {
        case nil: mayRead = session.isClosed
        case .read?: resume()
        case .close(let packet)?: end(packet)
        case .take(let pushes)?:
            mayRead = false
            guard let certificate else { return }
            let bound = NIOLoopBound(self, eventLoop: loop)
            let intake = intake
            loop.makeFutureWithTask { await intake.take(pushes, certificate: certificate) }.whenSuccess { outcome in
                bound.value.follow(bound.value.session.completed(outcome))
            }
        }
    }

    private func resume() {
        mayRead = true
        guard isWaitingToRead else { return }
        isWaitingToRead = false
        context?.read()
    }

    private func end(_ packet: [UInt8]) {
        resume()
        guard let context, context.channel.isActive else { return registry.closed(self) }
        guard !packet.isEmpty else { return context.close(promise: nil) }
        context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(bytes: packet)), promise: nil)
        context.close(mode: .output, promise: nil)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        loop.scheduleTask(in: isStopping ? Self.lastLingering : Self.lingering) { bound.value.close(promise: nil) }
    }
}
