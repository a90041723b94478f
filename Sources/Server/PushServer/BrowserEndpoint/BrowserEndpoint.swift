import DeviceChannel
import Logging
import NIOCore
import NIOHTTP1
import NIOWebSocket
import Networking
import PushCore
import WebPushProtocol

/// The services of browsers' connections beside the gateway: the enrolment, and the origin of subscriptions' addresses.
package struct BrowserServices: Sendable {
    /// Enrols browsers and makes their subscriptions.
    package var enrolment: BrowserEnrolment
    /// Withdraws messages of subscriptions that have ended.
    package var withdrawal: any NotificationWithdrawal
    /// The origin of subscriptions' addresses, such as `https://push.example:8443`, by the host that the browser has connected
    /// to; `nil` while it is not known.
    package var origin: @Sendable (_ host: String, _ isSecured: Bool) -> String?
    /// Times and limits of each session.
    package var session = AutopushSession.Configuration()

    /// Creates an instance from its properties.
    package init(
        enrolment: BrowserEnrolment, withdrawal: any NotificationWithdrawal,
        origin: @escaping @Sendable (_ host: String, _ isSecured: Bool) -> String?
    ) {
        self.enrolment = enrolment
        self.withdrawal = withdrawal
        self.origin = origin
    }
}

/// Connections of the device endpoint that speak HTTP: they upgrade to a WebSocket, whose messages are Autopush's.
struct BrowserEndpoint: Sendable {
    let services: BrowserServices
    let configuration: DeviceEndpointConfiguration
    let context: DeviceConnectionContext

    /// Adds the handlers of a connection whose first byte was HTTP's.
    ///
    /// - Parameter begun: Called when the connection has become a WebSocket, which is in the registry itself.
    func addHandlers(
        to channel: any Channel, isSecured: Bool, begun: @escaping @Sendable () -> Void
    ) throws {
        let upgrader = NIOWebSocketServerUpgrader(
            maxFrameSize: AutopushRequest.largest,
            shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
            upgradePipelineHandler: { channel, head in
                channel.eventLoop.makeCompletedFuture {
                    do {
                        try self.begin(on: channel, AutopushConnection.Origin(head, isSecured: isSecured))
                        begun()
                    } catch {
                        // The client was told already that it has a WebSocket.
                        channel.close(promise: nil)
                        throw error
                    }
                }
            })
        let rejecting = NotWebSocketHandler()
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withPipeliningAssistance: false,
            withServerUpgrade: (
                upgraders: [upgrader],
                completionHandler: {
                    $0.pipeline.syncOperations.removeHandler(name: NotWebSocketHandler.name, promise: nil)
                }
            ))
        try channel.pipeline.syncOperations.addHandler(rejecting, name: NotWebSocketHandler.name)
    }

    private func begin(on channel: any Channel, _ origin: AutopushConnection.Origin) throws {
        let port = AutopushPort(
            eventLoop: channel.eventLoop, gateway: context.gateway,
            network: context.limiter.address(of: channel).map { "\($0)" })
        guard context.registry.add(port) else { throw ChannelError.operationUnsupported }
        let connection = AutopushConnection(services, context, origin: origin, port: port)
        port.attach(connection)
        do {
            try channel.pipeline.syncOperations.addHandlers([
                ClientFrameHandler(),
                NIOWebSocketFrameAggregator(
                    minNonFinalFragmentSize: 1, maxAccumulatedFrameCount: 64,
                    maxAccumulatedFrameSize: AutopushRequest.largest),
                AutopushChannelHandler(peer: connection),
            ])
        } catch {
            port.detach(hasSession: false)
            context.registry.remove(port)
            throw error
        }
    }
}

/// Answers a request that does not upgrade to a WebSocket, and closes the connection.
private final class NotWebSocketHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    static let name = "aldaba.not-web-socket"
    private static let text =
        "This port is for devices: MCS, and Autopush's WebSocket for browsers. Ask for an upgrade to websocket, version 13.\n"

    private var hasAnswered = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .end = unwrapInboundIn(data) { answer(context) }
    }

    /// Answers a handshake that is not one, and closes after anything else.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is NIOWebSocketUpgradeError { answer(context) } else { context.close(promise: nil) }
    }

    private func answer(_ context: ChannelHandlerContext) {
        guard !hasAnswered else { return }
        hasAnswered = true
        let body = context.channel.allocator.buffer(string: Self.text)
        let headers: HTTPHeaders = [
            "content-type": "text/plain; charset=utf-8", "content-length": "\(body.readableBytes)",
            "upgrade": "websocket", "sec-websocket-version": "13", "connection": "close",
        ]
        let head = HTTPResponseHead(version: .http1_1, status: .upgradeRequired, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in bound.value.close(promise: nil) }
    }
}
