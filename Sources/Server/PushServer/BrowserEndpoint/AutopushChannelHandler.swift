import DeviceChannel
import NIOCore
import NIOWebSocket
import PushCore
import WebPushProtocol

/// The channel handler of one browser's WebSocket: reads messages for its connection, and writes the connection's.
///
/// It is used on the channel's event loop only.
final class AutopushChannelHandler: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let peer: AutopushConnection
    private var context: ChannelHandlerContext?
    private var isReadHeld = false
    private var isClosing = false
    private var timer: (uptime: Int64, task: Scheduled<Void>)?
    private var closing: Scheduled<Void>?

    /// The time for a close frame to leave: a client that reads nothing does not keep the connection.
    private static let goodbyeTime = TimeAmount.seconds(1)

    /// Creates the handler of one connection. It retains its peer.
    init(peer: AutopushConnection) { self.peer = peer }

    // MARK: Calls of the peer

    /// Whether the connection can take more without growing its buffer.
    var isWritable: Bool { context?.channel.isWritable ?? false }

    /// The channel; `nil` once the connection is over.
    var channel: (any Channel)? { context?.channel }

    /// Writes a message, which is sent with the next ``settle()``.
    func send(_ text: String) {
        guard let context, !isClosing else { return }
        write(context.channel.allocator.buffer(string: text), as: .text, context)
    }

    /// Writes a ping.
    func ping() {
        guard let context, !isClosing else { return }
        write(ByteBuffer(), as: .ping, context)
    }

    /// Writes a close frame and closes the connection.
    func close(code: UInt16, text: String) {
        guard let context, !isClosing else { return }
        isClosing = true
        var data = context.channel.allocator.buffer(capacity: 2 + text.utf8.count)
        data.write(webSocketErrorCode: WebSocketErrorCode(codeNumber: Int(code)))
        // A control frame has 125 bytes at most (RFC 6455, section 5.5).
        data.writeBytes(text.utf8.prefix(123))
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        closing = context.eventLoop.scheduleTask(in: Self.goodbyeTime) { bound.value.close(promise: nil) }
        context.writeAndFlush(wrapOutboundOut(WebSocketFrame(fin: true, opcode: .connectionClose, data: data)))
            .whenComplete { _ in bound.value.close(promise: nil) }
    }

    /// Sends what was written, continues reading if the peer wants that again, and resets the timer.
    func settle() {
        guard let context else { return }
        context.flush()
        if isReadHeld, !isClosing, wantsRead {
            isReadHeld = false
            context.read()
        }
        updateTimer()
    }

    private var wantsRead: Bool { peer.wantsRead && isWritable }

    private func write(_ data: ByteBuffer, as opcode: WebSocketOpcode, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(WebSocketFrame(fin: true, opcode: opcode, data: data)), promise: nil)
    }

    // MARK: Inbound

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        peer.opened(self)
        settle()
    }

    func handlerRemoved(context: ChannelHandlerContext) { finish() }

    func channelInactive(context: ChannelHandlerContext) {
        finish()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing else { return }
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .text: peer.received(Array(buffer: frame.unmaskedData))
        case .ping:
            write(frame.unmaskedData, as: .pong, context)
            peer.receivedFrame()
        case .pong: peer.receivedFrame()
        case .connectionClose: peer.end(.closedByClient)
        default: peer.end(.violation("a message is a text"))
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        settle()
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        peer.writabilityChanged(context.channel.isWritable)
        settle()
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case let fault as ClientFrameHandler.Fault: peer.end(.violation(fault.reason))
        case is NIOWebSocketFrameAggregator.Error:
            peer.end(
                .violation("a message has at most \(AutopushRequest.largest) bytes, in pieces that follow each other"))
        default:
            peer.connectionBroke(error)
            isClosing = true
            context.close(promise: nil)
        }
    }

    func read(context: ChannelHandlerContext) {
        if isClosing || wantsRead { context.read() } else { isReadHeld = true }
    }

    // MARK: Inside

    private func finish() {
        guard context != nil else { return }
        context = nil
        isClosing = true
        timer?.task.cancel()
        timer = nil
        closing?.cancel()
        closing = nil
        peer.closed()
    }

    /// Updates the timer. A timer that fires too early only checks the deadline again.
    private func updateTimer() {
        guard let context, let deadline = peer.deadline else {
            timer?.task.cancel()
            timer = nil
            return
        }
        if let timer {
            guard deadline < timer.uptime else { return }
            timer.task.cancel()
        }
        let pause = max(0, deadline - SessionTime.now().uptime)
        let task = context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(pause)) { self.timerFired() }
        timer = (deadline, task)
    }

    private func timerFired() {
        timer = nil
        guard context != nil else { return }
        peer.tick()
        settle()
    }
}
