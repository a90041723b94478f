import CNghttp2
import NIOCore
import NIOSSL
import PushCore

/// The handler of one connection's requests; called on its event loop.
package protocol HTTP2RequestHandler: AnyObject {
    /// Handles a request that is complete, or whose body never will be. Respond with
    /// ``HTTP2ServerConnection/respond(_:headers:body:)``, now or later.
    func requestReceived(_ request: HTTP2Request, on connection: HTTP2ServerConnection)
    /// Handles the end of the connection; responses to its open streams are discarded.
    func connectionClosed(_ connection: HTTP2ServerConnection)
}

/// A complete request. Its header block belongs to the connection and is reused after the handler returns.
package struct HTTP2Request {
    /// The stream of the response, for ``HTTP2ServerConnection/respond(_:headers:body:)``.
    package let stream: Int32
    /// The header fields, pseudo-header fields first; no trailers.
    package let headers: HeaderBlock
    /// The whole body; empty where there is none, or where it was discarded.
    package let body: [UInt8]
    /// The fault of the message, whose body was discarded; `nil` for most.
    package let fault: Fault?
    /// Whether a field's value has bytes that HTTP forbids, such as a line feed.
    package let hasIllegalValue: Bool

    /// A fault of a message that gets an answer nevertheless.
    package enum Fault: Sendable, Hashable {
        /// The header block exceeded the limits; fields beyond them were discarded.
        case headersTooLarge
        /// The body exceeded the limit.
        case bodyTooLarge
        /// The body did not end in time.
        case bodyLate
        /// The body is not as long as its `content-length`.
        case wrongLength
    }
}

/// The server's end of one HTTP/2 connection. Confined to its event loop.
package final class HTTP2ServerConnection {
    fileprivate let session: HTTP2Session
    fileprivate weak var handler: HTTP2ServerHandler?
    /// The event loop of this connection.
    package let eventLoop: any EventLoop
    private var isProven = false

    fileprivate init(session: HTTP2Session, eventLoop: any EventLoop) {
        self.session = session
        self.eventLoop = eventLoop
    }

    /// The peer's address.
    package var remoteAddress: SocketAddress? { handler?.remoteAddress }

    /// The bytes of the certificate that the peer presented in the TLS handshake; `nil` where it presented none.
    package var peerCertificate: [UInt8]? { handler?.peerCertificate }

    /// Queues the response of a stream; it is written with the batch it belongs to, see ``flush()``.
    ///
    /// - Parameters:
    ///   - headers: The fields, `:status` first.
    ///   - body: The body, empty for none; otherwise it is sent as one DATA frame (up to the peer's window and frame
    ///     size).
    /// - Returns: `false` when the stream is closed.
    @discardableResult
    package func respond(_ stream: Int32, headers: HeaderBlock, body: [UInt8] = []) -> Bool {
        session.submitResponse(stream, headers: headers, body: body)
    }

    /// Ends a stream without a response, since its request is malformed.
    package func resetMalformed(_ stream: Int32) {
        guard let stream = session.stream(stream) else { return }
        session.refuseMalformed(stream)
    }

    /// Marks the connection as proven, since the peer has presented a valid credential: no other connection replaces
    /// it.
    package func prove() {
        guard !isProven else { return }
        isProven = true
        handler?.prove()
    }

    /// Writes queued responses. Those queued inside `requestReceived` are written without it.
    package func flush() { handler?.flush() }

    /// Sends GOAWAY and closes once all open streams have a response.
    package func shutDown(debugData: [UInt8] = []) { handler?.shutDown(debugData: debugData) }

    /// Sends GOAWAY that leaves out a stream and later ones, and closes once the earlier streams have a response.
    package func shutDown(before stream: Int32) { handler?.shutDown(debugData: [], last: max(0, stream - 2)) }

    /// Processes no further request, and sends GOAWAY that says so after the responses that are queued now; closes once all
    /// open streams have a response. A GOAWAY that is queued earlier would overtake the bodies of responses.
    package func shutDownAfterResponses(debugData: [UInt8]) { handler?.shutDownAfterResponses(debugData: debugData) }

    /// Ends a stream with REFUSED_STREAM: its request was not processed (RFC 9113, section 8.7).
    package func refuse(_ stream: Int32) { session.reset(stream, code: NGHTTP2_REFUSED_STREAM.rawValue) }

    /// Changes the number of streams that the peer may have open.
    package func limitStreams(to count: UInt32) { session.submitStreamLimit(count) }

    /// Closes the connection at once; open requests get no response.
    package func close() { handler?.close() }
}

/// Transfers bytes between a channel and a server session. One per connection.
final class HTTP2ServerHandler: ChannelInboundHandler, HTTP2SessionOwner {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let limits: HTTP2Limits
    private let makeRequestHandler: (HTTP2ServerConnection) -> any HTTP2RequestHandler
    private var connection: HTTP2ServerConnection?
    private var requestHandler: (any HTTP2RequestHandler)?
    private var context: ChannelHandlerContext?
    private var isReading = false
    private var isShuttingDown = false
    /// The last stream that is processed: that of a GOAWAY that leaves out later ones.
    private var lastStream = Int32.max
    /// The latest stream whose request was passed on.
    private var latestStream: Int32 = 0
    /// Whether the peer violated the protocol: the connection is closing, and further bytes are not read.
    private var isBroken = false
    private let registry: HTTP2ConnectionRegistry?
    private let limiter: ConnectionLimiter?
    private let floods: FloodLog?
    private let openingTimeout: TimeAmount
    private let requestTimeout: TimeAmount
    /// Closes a connection on which no HTTP/2 has begun in time; cancelled by the peer's SETTINGS.
    private var opening: Scheduled<Void>?
    /// Checks whether a request has been awaited for too long; may be set without an awaited request.
    private var awaiting: Scheduled<Void>?

    /// The number of bytes taken from the session at once; more wait in it until the channel is writable again.
    private static let writeSlice = 64 << 10

    init(
        limits: HTTP2Limits, registry: HTTP2ConnectionRegistry? = nil, limiter: ConnectionLimiter? = nil,
        floods: FloodLog? = nil,
        openingTimeout: TimeAmount = .seconds(30),
        requestTimeout: TimeAmount = .seconds(60),
        makeRequestHandler: @escaping (HTTP2ServerConnection) -> any HTTP2RequestHandler
    ) {
        self.limits = limits
        self.registry = registry
        self.limiter = limiter
        self.floods = floods
        self.openingTimeout = openingTimeout
        self.requestTimeout = requestTimeout
        self.makeRequestHandler = makeRequestHandler
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        do {
            let session = try HTTP2Session(role: .server, limits: limits)
            session.owner = self
            let connection = HTTP2ServerConnection(session: session, eventLoop: context.eventLoop)
            connection.handler = self
            self.connection = connection
            requestHandler = makeRequestHandler(connection)
        } catch {
            context.close(promise: nil)
        }
    }

    func channelActive(context: ChannelHandlerContext) {
        registry?.opened(self, on: context.eventLoop)
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        opening = context.eventLoop.scheduleTask(in: openingTimeout) { handler.value.close() }
        flush()
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        registry?.closed(self, on: context.eventLoop)
        opening?.cancel()
        awaiting?.cancel()
        if let connection { requestHandler?.connectionClosed(connection) }
        self.context = nil
        requestHandler = nil
        connection = nil
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        guard !isBroken, let session = connection?.session else { return }
        isReading = true
        do {
            try buffer.withUnsafeReadableBytes { try session.receive($0, at: context.eventLoop.now) }
        } catch {
            if case HTTP2SessionError.tooManyFrames(let kind) = error {
                floods?.closed(kind, from: context.remoteAddress, at: context.eventLoop.now)
            }
            isBroken = true
            isReading = false
            flush()
            context.close(promise: nil)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        flush()
        watchRequests()
        context.fireChannelReadComplete()
    }

    /// Sets the timer for the request that has been awaited the longest. A request that arrives whole in one read,
    /// as most do, sets none.
    private func watchRequests() {
        guard awaiting == nil, let context, let session = connection?.session, session.awaitedRequests > 0,
            let oldest = session.oldestAwaited
        else { return }
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        awaiting = context.eventLoop.scheduleTask(deadline: oldest + requestTimeout) {
            handler.value.giveUpOverdueRequests()
        }
    }

    private func giveUpOverdueRequests() {
        awaiting = nil
        guard let context, let session = connection?.session else { return }
        session.giveUpRequests(begunBy: context.eventLoop.now - requestTimeout)
        flush()
        watchRequests()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { flush() }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let idle as IdleStateHandler.IdleStateEvent where idle == .all:
            // The connection is idle again after GOAWAY: open streams will not end by themselves.
            if isShuttingDown { return close() }
            shutDown(debugData: Array(#"{"reason":"IdleTimeout"}"#.utf8))
        case is AdmissionHandler.Overdue: shutDown(debugData: Array(#"{"reason":"IdleTimeout"}"#.utf8))
        case ChannelEvent.inputClosed:
            context.close(promise: nil)
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A broken TLS handshake or a reset socket concerns this connection alone.
        context.close(promise: nil)
    }

    fileprivate var remoteAddress: SocketAddress? { context?.remoteAddress }

    fileprivate var peerCertificate: [UInt8]? {
        // Without TLS there is no such handler, and no certificate.
        let handler = try? context?.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self)
        return try? handler?.peerCertificate?.toDERBytes()
    }

    fileprivate func prove() {
        if let context { limiter?.proven(context.channel) }
    }

    /// Writes the session's bytes while the channel is writable.
    func flush() {
        guard !isReading, let context, let session = connection?.session else { return }
        do {
            while session.wantsWrite && context.channel.isWritable {
                var buffer = context.channel.allocator.buffer(capacity: 4096)
                let more = try session.write(into: &buffer, limit: Self.writeSlice)
                if buffer.readableBytes > 0 { context.writeAndFlush(wrapOutboundOut(buffer), promise: nil) }
                if !more { break }
            }
            if session.isFinished || (isShuttingDown && session.openStreams == 0 && !session.wantsWrite) {
                context.close(promise: nil)
            }
        } catch {
            context.close(promise: nil)
        }
    }

    /// Refuses new streams; the connection closes after the last open one has a response.
    func shutDown(debugData: [UInt8], last: Int32? = nil) {
        guard !isShuttingDown, let session = connection?.session else { return }
        isShuttingDown = true
        if let last { lastStream = last }
        session.submitGoAway(code: 0, debugData: debugData, last: last)
        flush()
    }

    func shutDownAfterResponses(debugData: [UInt8]) {
        guard !isShuttingDown, let context else { return }
        lastStream = latestStream
        let (handler, last) = (NIOLoopBound(self, eventLoop: context.eventLoop), lastStream)
        context.eventLoop.execute { handler.value.shutDown(debugData: debugData, last: last) }
    }

    /// Closes at once; open requests get no response.
    func close() { context?.close(promise: nil) }

    // MARK: HTTP2SessionOwner

    func messageReceived(_ stream: HTTP2Stream) {
        guard let connection, let requestHandler else { return }
        // It was read before the client knew of the GOAWAY, and may be sent again.
        guard stream.id <= lastStream else {
            connection.session.dropBody(of: stream)
            return connection.refuse(stream.id)
        }
        latestStream = max(latestStream, stream.id)
        let request = HTTP2Request(
            stream: stream.id, headers: stream.headers, body: stream.body, fault: stream.fault,
            hasIllegalValue: stream.rules.hasIllegalValue)
        connection.session.dropBody(of: stream)
        requestHandler.requestReceived(request, on: connection)
    }

    func streamClosed(_ stream: HTTP2Stream, code: UInt32) {}

    func goAwayReceived(lastStream: Int32, code: UInt32, debugData: [UInt8]) { isShuttingDown = true }

    func settingsReceived() { opening?.cancel() }

    func pingAcknowledged() {}
}
