import Logging
import NIOCore
import Networking
import PushCore

/// Chooses the protocol of a connection by its first byte, adds the handlers of that protocol, and removes itself.
final class FirstByteHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    /// The first byte of `GET`, the only request of HTTP that begins a WebSocket. No MCS version has this number, and no record
    /// of TLS this type.
    static let http = UInt8(ascii: "G")

    private let logger: Logger
    private let choose: (_ isHTTP: Bool, any Channel) throws -> Void

    /// - Parameter choose: Adds the handlers; an error closes the connection.
    init(logger: Logger, choose: @escaping (_ isHTTP: Bool, any Channel) throws -> Void) {
        self.logger = logger
        self.choose = choose
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let first = unwrapInboundIn(data).readableBytesView.first else { return }
        do {
            try choose(first == Self.http, context.channel)
            context.fireChannelRead(data)
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        } catch { end(context, error) }
    }

    /// Closes a connection whose TLS handshake failed, or that broke before it said anything.
    func errorCaught(context: ChannelHandlerContext, error: any Error) { end(context, error) }

    private func end(_ context: ChannelHandlerContext, _ error: any Error) {
        logger.debug("a device's connection broke before its first packet", metadata: [LogKey.error: "\(error)"])
        context.close(promise: nil)
    }
}
