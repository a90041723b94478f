import AgentEngine
import AgentProtocol
import NIOCore

/// Converts the bytes of an app's connection to messages and back; the agent handles at most one read's messages at a
/// time.
final class AppConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = [AgentMessage]
    typealias OutboundOut = ByteBuffer

    /// The agent's signal that it has handled the messages of a read.
    struct Resume: Sendable {}

    /// The time limit for a peer's hello.
    static let helloLimit = TimeAmount.seconds(10)

    private let connection: AppConnection
    private let delegate: any AppSocketDelegate
    /// Called when the first message has come.
    private let markActive: () -> Void
    private var decoder = AgentFrameDecoder()
    private var messages: [AppMessage] = []
    private var wantsRead = false
    private var helloTimer: Scheduled<Void>?

    init(connection: AppConnection, delegate: any AppSocketDelegate, markActive: @escaping () -> Void) {
        self.connection = connection
        self.delegate = delegate
        self.markActive = markActive
    }

    func channelActive(context: ChannelHandlerContext) {
        let connection = connection
        helloTimer = context.eventLoop.scheduleTask(in: Self.helloLimit) { connection.close() }
        context.fireChannelActive()
        context.read()
    }

    func channelInactive(context: ChannelHandlerContext) {
        helloTimer?.cancel()
        delegate.closed(connection)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        decoder.append(unwrapInboundIn(data).readableBytesView)
        do {
            while let frame = try decoder.next() { messages.append(try AppMessage(frame: frame)) }
        } catch {
            refuse(error, context: context)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard !messages.isEmpty else { return context.read() }
        if let timer = helloTimer {
            timer.cancel()
            helloTimer = nil
            markActive()
        }
        let batch = messages
        messages = []
        delegate.received(batch, from: connection)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is Resume else { return context.triggerUserOutboundEvent(event, promise: promise) }
        wantsRead = true
        readIfWritable(context: context)
    }

    /// An app that does not take what it is sent is not read from either.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        readIfWritable(context: context)
        context.fireChannelWritabilityChanged()
    }

    private func readIfWritable(context: ChannelHandlerContext) {
        guard wantsRead, context.channel.isWritable else { return }
        wantsRead = false
        context.read()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var buffer = context.channel.allocator.buffer(capacity: 1024)
        for message in unwrapOutboundIn(data) {
            do {
                buffer.writeBytes(try message.frame())
            } catch {
                promise?.fail(error)
                return context.close(promise: nil)
            }
        }
        context.write(wrapOutboundOut(buffer), promise: promise)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func refuse(_ error: AgentFrameError, context: ChannelHandlerContext) {
        connection.refuse(code: "malformed", message: error.description)
    }
}
