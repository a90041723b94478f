import NIOCore

/// The first handler of a device's connection: detects that the server turns it away before TLS, and otherwise removes
/// itself with the first bytes.
final class MCSRejectionReader: ChannelInboundHandler, RemovableChannelHandler {
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
        switch MCSRejection.read(bytes.readableBytesView) {
        case .incomplete: held = bytes
        case .retryAfter(let pause): shell.rejected(retryAfter: pause)
        case .other:
            context.fireChannelRead(wrapInboundOut(bytes))
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        // The bytes are only a TLS alert.
        if let held { context.fireChannelRead(wrapInboundOut(held)) }
        held = nil
        context.fireChannelInactive()
    }
}
