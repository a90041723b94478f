import CNghttp2
import NIOCore
import NIOTLS
import PushCore

/// Transfers bytes between a channel and a client session. One per connection.
final class HTTP2ClientHandler: ChannelInboundHandler, HTTP2SessionOwner {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The receiver of a request's end.
    private enum Requester {
        case promise(EventLoopPromise<HTTP2Response>, timer: Scheduled<Void>)
        /// The observer, which gave the request a number.
        case observer(request: Int)
    }

    private struct Pending {
        var requester: Requester
        var response: HTTP2Response?
    }

    private let limits: HTTP2Limits
    private let waitsForTLS: Bool
    private let eventLoop: any EventLoop
    private let ready: EventLoopPromise<Void>
    private let observer: (@Sendable (HTTP2ClientEvent) -> Void)?
    private var session: HTTP2Session?
    private var context: ChannelHandlerContext?
    private var pending: [Int32: Pending] = [:]
    /// The streams of the observer's requests, by their numbers.
    private var streams: [Int: Int32] = [:]
    private var isFlushPlanned = false
    private var isReady = false
    private var isReading = false
    private var isGoingAway = false
    /// The last stream that the server processes, by its latest GOAWAY.
    private var lastProcessed = Int32.max
    private var failure: String?

    init(
        limits: HTTP2Limits, waitsForTLS: Bool, eventLoop: any EventLoop,
        observer: (@Sendable (HTTP2ClientEvent) -> Void)? = nil
    ) {
        self.limits = limits
        self.observer = observer
        self.eventLoop = eventLoop
        ready = eventLoop.makePromise()
        self.waitsForTLS = waitsForTLS
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        do {
            let session = try HTTP2Session(role: .client, limits: limits)
            session.owner = self
            self.session = session
        } catch {
            errorCaught(context: context, error: error)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        ready.fail(HTTP2RequestError.connectionClosed(reason: failure ?? "the connection was not made"))
    }

    /// A future that succeeds once requests can be sent: connected, and the TLS handshake done.
    var whenReady: EventLoopFuture<Void> { ready.futureResult }

    func channelActive(context: ChannelHandlerContext) {
        if !waitsForTLS { becomeReady() }
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? TLSUserEvent, case .handshakeCompleted(let negotiated) = event {
            if negotiated == "h2" {
                becomeReady()
            } else {
                failure = "the server does not offer HTTP/2 (ALPN h2)"
                context.close(promise: nil)
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func becomeReady() {
        guard !isReady else { return }
        isReady = true
        flush()
        ready.succeed()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        let error = HTTP2RequestError.connectionClosed(reason: failure ?? "the server closed the connection")
        ready.fail(error)
        let unprocessed = unprocessedRequests
        failAll(error)
        observer?(.closed(reason: failure ?? "the server closed the connection", unprocessed: unprocessed))
        session = nil
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if failure == nil { failure = "\(error)" }
        if !isReady { ready.fail(error) }
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        isReading = true
        do {
            try buffer.withUnsafeReadableBytes { try session?.receive($0, at: context.eventLoop.now) }
        } catch {
            errorCaught(context: context, error: error)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        flush()
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { flush() }
        context.fireChannelWritabilityChanged()
    }

    private func flush() {
        guard isReady, !isReading, let context, let session else { return }
        do {
            while session.wantsWrite && context.channel.isWritable {
                var buffer = context.channel.allocator.buffer(capacity: 4096)
                let more = try session.write(into: &buffer, limit: 64 << 10)
                if buffer.readableBytes > 0 { context.writeAndFlush(wrapOutboundOut(buffer), promise: nil) }
                if !more { break }
            }
            if session.isFinished { context.close(promise: nil) }
        } catch {
            errorCaught(context: context, error: error)
        }
    }

    /// Sends a request. The future fails with ``HTTP2RequestError``.
    func request(headers: HeaderBlock, body: [UInt8], timeout: TimeAmount) -> EventLoopFuture<HTTP2Response> {
        guard context != nil, !isGoingAway, let session,
            let stream = session.submitRequest(headers: headers, body: body)
        else {
            return eventLoop.makeFailedFuture(HTTP2RequestError.notProcessed)
        }
        let promise = eventLoop.makePromise(of: HTTP2Response.self)
        let id = stream.id
        let handler = NIOLoopBound(self, eventLoop: eventLoop)
        let timer = eventLoop.scheduleTask(in: timeout) { handler.value.timedOut(id) }
        pending[id] = Pending(requester: .promise(promise, timer: timer))
        flush()
        return promise.futureResult
    }

    private func timedOut(_ id: Int32) {
        guard let entry = pending.removeValue(forKey: id) else { return }
        session?.reset(id, code: NGHTTP2_CANCEL.rawValue)
        flush()
        end(entry, .failure(.timedOut))
    }

    /// Sends a request whose end is an event, and which has no deadline. Requests of one tick of the event loop are
    /// written together.
    func send(request: Int, headers: HeaderBlock, body: [UInt8]) {
        guard context != nil, !isGoingAway, let session,
            let stream = session.submitRequest(headers: headers, body: body)
        else {
            if session != nil, !isGoingAway {
                // The numbers of streams are used up (RFC 9113, section 5.1.1).
                isGoingAway = true
                observer?(.goAway(lastStream: .max, code: NGHTTP2_NO_ERROR.rawValue, debugData: []))
            }
            observer?(.ended(request: request, .failure(.notProcessed)))
            return
        }
        pending[stream.id] = Pending(requester: .observer(request: request))
        streams[request] = stream.id
        planFlush()
    }

    /// Resets the stream of an observer's request, whose end is then no event.
    func abandon(request: Int) {
        guard let id = streams.removeValue(forKey: request) else { return }
        pending[id] = nil
        session?.reset(id, code: NGHTTP2_CANCEL.rawValue)
        planFlush()
    }

    /// The observer's requests of which the server has processed none: beyond its GOAWAY, or never written. nghttp2 opens
    /// a stream when it writes its head.
    private var unprocessedRequests: Set<Int> {
        Set(streams.filter { $0.value > lastProcessed || session?.stream($0.value) == nil }.keys)
    }

    /// Sends PING; its acknowledgement is an event.
    func ping() {
        session?.submitPing()
        flush()
    }

    private func planFlush() {
        guard !isFlushPlanned else { return }
        isFlushPlanned = true
        let handler = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.execute {
            handler.value.isFlushPlanned = false
            handler.value.flush()
        }
    }

    private func end(_ entry: Pending, _ result: Result<HTTP2Response, HTTP2RequestError>) {
        switch entry.requester {
        case .promise(let promise, let timer):
            timer.cancel()
            promise.completeWith(result.mapError { $0 as any Error })
        case .observer(let request):
            streams[request] = nil
            observer?(.ended(request: request, result))
        }
    }

    private func failAll(_ error: HTTP2RequestError) {
        let all = pending
        pending = [:]
        streams = [:]
        for case .promise(let promise, let timer) in all.values.map(\.requester) {
            timer.cancel()
            promise.fail(error)
        }
    }

    // MARK: HTTP2SessionOwner

    func messageReceived(_ stream: HTTP2Stream) {
        guard let index = stream.headers.first(":status"), let status = Int(stream.headers.text(index)) else { return }
        pending[stream.id]?.response = HTTP2Response(status: status, headers: stream.headers, body: stream.body)
    }

    func streamClosed(_ stream: HTTP2Stream, code: UInt32) {
        guard let entry = pending.removeValue(forKey: stream.id) else { return }
        if let response = entry.response {
            end(entry, .success(response))
        } else if code == NGHTTP2_REFUSED_STREAM.rawValue {
            end(entry, .failure(.notProcessed))
        } else if code != NGHTTP2_NO_ERROR.rawValue {
            end(entry, .failure(.streamReset(code: code)))
        } else {
            end(entry, .failure(.malformedResponse))
        }
    }

    func goAwayReceived(lastStream: Int32, code: UInt32, debugData: [UInt8]) {
        isGoingAway = true
        lastProcessed = min(lastProcessed, lastStream)
        failure = "GOAWAY \(code) \(String(decoding: debugData.prefix(200), as: UTF8.self))"
        observer?(.goAway(lastStream: lastStream, code: code, debugData: debugData))
    }

    func settingsReceived() { observer?(.settings(streamLimit: session?.peerStreamLimit ?? 0)) }

    func pingAcknowledged() { observer?(.pingAcknowledged) }
}
