import MCSWire
import NIOCore

/// The first handler of a device's connection: notices when the server sends it away before TLS, and else steps aside with the
/// first bytes.
final class TurnAwayReader: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let shell: MCSClientShell
    private var held: ByteBuffer?

    init(_ shell: MCSClientShell) { self.shell = shell }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if var earlier = held {
            earlier.writeBuffer(&bytes)
            bytes = earlier
        }
        held = nil
        switch MCSTurnAway.read(bytes.readableBytesView) {
        case .incomplete: held = bytes
        case .retryAfter(let pause): shell.turnedAway(retryAfter: pause)
        case .other:
            context.fireChannelRead(wrapInboundOut(bytes))
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        // An alert of TLS and nothing more.
        if let held { context.fireChannelRead(wrapInboundOut(held)) }
        held = nil
        context.fireChannelInactive()
    }
}
