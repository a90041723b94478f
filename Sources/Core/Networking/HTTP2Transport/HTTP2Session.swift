import CNghttp2
import NIOCore
import PushCore

/// The owner of an HTTP/2 session, called with its events while bytes are received, on the connection's event loop.
protocol HTTP2SessionOwner: AnyObject {
    /// Handles a message that is complete (its body too), or that has a fault (`stream.fault`).
    func messageReceived(_ stream: HTTP2Stream)
    /// Handles the end of a stream; `code` is the HTTP/2 error code, 0 for success.
    func streamClosed(_ stream: HTTP2Stream, code: UInt32)
    /// Handles the peer's GOAWAY, which has processed no stream above `lastStream`.
    func goAwayReceived(lastStream: Int32, code: UInt32, debugData: [UInt8])
    /// Handles the peer's settings, the first or changed ones.
    func settingsReceived()
    /// Handles the acknowledgement of a PING.
    func pingAcknowledged()
}

/// One exchange on a session; owned by it, valid until `streamClosed`.
final class HTTP2Stream {
    var id: Int32 = 0
    var headers = HeaderBlock()
    var body: [UInt8] = []
    /// Whether the header fields have ended; any following fields are trailers. An interim response's do not count.
    var headIsComplete = false
    /// The first fault of a request that is answered nevertheless.
    var fault: HTTP2Request.Fault?
    /// Whether the response comes before the end of the request.
    var endsEarly = false
    /// The rules for the request, with what a server has seen of its fields and body.
    var rules = RequestRules()
    /// The numbers of fields and bytes of the header block that is being read.
    private(set) var blockFields = 0
    private var blockBytes = 0
    /// The bytes that count against the connection's budget.
    fileprivate var heldHeaderBytes = 0
    fileprivate var heldBodyBytes = 0
    /// Whether the message was passed to the owner, or never will be.
    var wasDelivered = false
    /// The time at which the request began, while its end is awaited.
    var awaitedSince: NIODeadline?
    /// The unsent rest of the body of the response (or request).
    var outgoing: [UInt8] = []
    var outgoingOffset = 0

    func reset(id: Int32) {
        self.id = id
        headers.removeAll()
        body = []
        headIsComplete = false
        fault = nil
        endsEarly = false
        rules = RequestRules()
        wasDelivered = false
        awaitedSince = nil
        outgoing = []
        outgoingOffset = 0
        heldHeaderBytes = 0
        heldBodyBytes = 0
        beginHeaderBlock()
    }

    /// Begins a header block: the head, an interim one, or trailers.
    func beginHeaderBlock() {
        blockFields = 0
        blockBytes = 0
    }

    /// Counts a field of the block that is being read.
    func countField(bytes: Int) {
        blockFields += 1
        blockBytes += bytes
    }

    /// Whether the block that is being read is within some times the limits.
    func blockFits(_ limits: HTTP2Limits, times factor: Int = 1) -> Bool {
        blockFields <= limits.headerFields * factor && blockBytes <= limits.headerBytes * factor
    }
}

/// A nghttp2 session with its streams. Confined to one event loop; does no I/O of its own.
final class HTTP2Session {
    enum Role {
        case server
        case client
    }

    private(set) var pointer: OpaquePointer?
    weak var owner: (any HTTP2SessionOwner)?
    let role: Role
    let limits: HTTP2Limits
    /// The states of all streams ever opened, which are reused: nghttp2's user data points at them unretained. Their
    /// number is that of the streams open at once, so the stream limit bounds it.
    private var everyStream: [HTTP2Stream] = []
    private var spareStreams: [HTTP2Stream] = []
    /// The number of open streams, in either direction.
    private(set) var openStreams = 0
    /// The bytes of headers and bodies that all streams hold.
    private(set) var heldBytes = 0
    /// The number of header blocks that exceeded the limits.
    private var excessiveHeaderBlocks = 0
    /// The number of requests that have begun and not ended.
    private(set) var awaitedRequests = 0
    /// The capacity for the head of an ordinary request, provider token included, in bytes.
    private static let spareHeaderBytes = 2048
    /// The frames without work that a client may send; `nil` on a client's own side.
    private var frames: FrameBudget?
    /// When the bytes that are being fed in arrived.
    private var now = NIODeadline.uptimeNanoseconds(0)

    /// - Throws: ``HTTP2SessionError`` when nghttp2 has no memory for a session.
    init(role: Role, limits: HTTP2Limits) throws {
        self.role = role
        self.limits = limits
        frames = role == .server ? FrameBudget() : nil
        var callbacks: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0 else {
            throw HTTP2SessionError.library(code: NGHTTP2_ERR_NOMEM.rawValue)
        }
        defer { nghttp2_session_callbacks_del(callbacks) }
        HTTP2Callbacks.install(callbacks)
        var options: OpaquePointer?
        guard nghttp2_option_new(&options) == 0 else {
            throw HTTP2SessionError.library(code: NGHTTP2_ERR_NOMEM.rawValue)
        }
        defer { nghttp2_option_del(options) }
        // A server checks requests with ``RequestRules``.
        nghttp2_option_set_no_http_messaging(options, role == .server ? 1 : 0)
        let me = Unmanaged.passUnretained(self).toOpaque()
        let code =
            role == .server
            ? nghttp2_session_server_new2(&pointer, callbacks, me, options)
            : nghttp2_session_client_new2(&pointer, callbacks, me, options)
        guard code == 0 else { throw HTTP2SessionError.library(code: code) }
        try submitFirstSettings()
    }

    deinit { nghttp2_session_del(pointer) }

    private func submitFirstSettings() throws {
        var settings = [
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: limits.concurrentStreams),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), value: UInt32(limits.headerBytes)),
        ]
        if role == .client {
            settings.append(
                nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0))
        }
        let code = nghttp2_submit_settings(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
        guard code == 0 else { throw HTTP2SessionError.library(code: code) }
        nghttp2_session_set_local_window_size(pointer, 0, 0, limits.connectionWindow)
    }

    private static let tooManyFrames = Array(#"{"reason":"TooManyFrames"}"#.utf8)

    // MARK: Bytes

    /// Processes received bytes; the owner is called for each message that they complete.
    ///
    /// - Throws: when nothing more can be read: the peer broke the protocol, caused more frames than may wait, or sent
    ///   more frames without work than its budget allows. A GOAWAY is queued then.
    ///   nghttp2 bounds by itself how many answers to PING and SETTINGS wait. An error that HTTP/2 answers with GOAWAY does
    ///   not throw: the GOAWAY is queued.
    func receive(_ bytes: UnsafeRawBufferPointer, at now: NIODeadline) throws {
        guard let start = bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count > 0 else { return }
        self.now = now
        if let kind = frames?.receive(bytes, at: now, isOpen: { stream($0) != nil }) {
            submitGoAway(code: NGHTTP2_ENHANCE_YOUR_CALM.rawValue, debugData: Self.tooManyFrames)
            throw HTTP2SessionError.tooManyFrames(kind)
        }
        let consumed = nghttp2_session_mem_recv(pointer, start, bytes.count)
        guard consumed >= 0 else { throw HTTP2SessionError.library(code: Int32(truncatingIfNeeded: consumed)) }
        guard nghttp2_session_get_outbound_queue_size(pointer) <= limits.waitingFrames else {
            throw HTTP2SessionError.peerDoesNotRead
        }
    }

    /// Appends bytes to be written, until none are left or `limit` is exceeded.
    ///
    /// - Returns: Whether more bytes are waiting.
    func write(into buffer: inout ByteBuffer, limit: Int) throws -> Bool {
        var written = 0
        while written < limit {
            var data: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(pointer, &data)
            guard count >= 0 else { throw HTTP2SessionError.library(code: Int32(truncatingIfNeeded: count)) }
            guard count > 0, let data else { return false }
            buffer.writeBytes(UnsafeRawBufferPointer(start: data, count: count))
            written += count
        }
        return nghttp2_session_want_write(pointer) != 0
    }

    /// Whether nothing is left to read or write: the connection can be closed.
    var isFinished: Bool {
        nghttp2_session_want_read(pointer) == 0 && nghttp2_session_want_write(pointer) == 0
    }

    /// Whether bytes wait to be written.
    var wantsWrite: Bool { nghttp2_session_want_write(pointer) != 0 }

    // MARK: Streams

    /// The open stream with an id.
    func stream(_ id: Int32) -> HTTP2Stream? {
        guard let data = nghttp2_session_get_stream_user_data(pointer, id) else { return nil }
        return Unmanaged<HTTP2Stream>.fromOpaque(data).takeUnretainedValue()
    }

    /// Creates the state of a new stream and attaches it to nghttp2's.
    func openStream(_ id: Int32) -> HTTP2Stream {
        let stream = openDetachedStream()
        attach(stream, id: id)
        return stream
    }

    /// Creates the state of a stream whose id is not known yet.
    func openDetachedStream() -> HTTP2Stream {
        let stream: HTTP2Stream
        if let spare = spareStreams.popLast() {
            stream = spare
        } else {
            stream = HTTP2Stream()
            everyStream.append(stream)
        }
        stream.reset(id: 0)
        openStreams += 1
        return stream
    }

    /// Sets a stream's id and attaches its state to nghttp2's.
    func attach(_ stream: HTTP2Stream, id: Int32) {
        stream.id = id
        nghttp2_session_set_stream_user_data(pointer, id, Unmanaged.passUnretained(stream).toOpaque())
    }

    /// Reclaims the state of a stream that never got an id.
    func discardDetachedStream(_ stream: HTTP2Stream) {
        openStreams -= 1
        release(stream)
    }

    /// Releases a stream's memory. A spare state keeps only the capacity that an ordinary request needs.
    private func release(_ stream: HTTP2Stream) {
        heldBytes -= stream.heldHeaderBytes + stream.heldBodyBytes
        stream.reset(id: 0)
        stream.headers.shrink(toBytes: Self.spareHeaderBytes)
        spareStreams.append(stream)
    }

    /// Reclaims a stream's state when nghttp2 has closed it.
    func closeStream(_ id: Int32, code: UInt32) {
        guard let stream = stream(id) else { return }
        requestEnded(on: stream)
        if code == NGHTTP2_NO_ERROR.rawValue { frames?.requestCompleted() }
        nghttp2_session_set_stream_user_data(pointer, id, nil)
        openStreams -= 1
        owner?.streamClosed(stream, code: code)
        release(stream)
    }

    // MARK: The budget

    /// Counts bytes that a stream is about to hold; `false` when the connection's budget is exceeded.
    func hold(_ bytes: Int, for stream: HTTP2Stream) -> Bool {
        guard heldBytes + bytes <= limits.heldBytes else { return false }
        heldBytes += bytes
        if stream.headIsComplete { stream.heldBodyBytes += bytes } else { stream.heldHeaderBytes += bytes }
        return true
    }

    /// Releases a body that was passed to the owner or is not needed.
    func dropBody(of stream: HTTP2Stream) {
        heldBytes -= stream.heldBodyBytes
        stream.heldBodyBytes = 0
        stream.body = []
    }

    /// Lets go of a body of which no more is taken. The peer may send what its window has left, and gets no more; beyond that
    /// nghttp2 resets the stream with FLOW_CONTROL_ERROR.
    func refuseBody(of stream: HTTP2Stream) {
        dropBody(of: stream)
        nghttp2_session_set_local_window_size(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, 0)
    }

    /// Refuses a header block: its stream is reset, and after a few of them the connection is sent away.
    ///
    /// - Returns: The result of the header callback, with which nghttp2 decodes the rest without a call for each field.
    func refuseHeaders(of stream: HTTP2Stream) -> Int32 {
        requestEnded(on: stream)
        stream.wasDelivered = true
        reset(stream.id, code: NGHTTP2_ENHANCE_YOUR_CALM.rawValue)
        excessiveHeaderBlocks += 1
        if role == .server, excessiveHeaderBlocks == limits.excessiveHeaderBlocks {
            nghttp2_session_terminate_session(pointer, NGHTTP2_ENHANCE_YOUR_CALM.rawValue)
        }
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }

    /// Resets the stream of a malformed request (RFC 9113, section 8.1.1).
    func refuseMalformed(_ stream: HTTP2Stream) {
        requestEnded(on: stream)
        dropBody(of: stream)
        stream.wasDelivered = true
        reset(stream.id, code: NGHTTP2_PROTOCOL_ERROR.rawValue)
    }

    // MARK: Requests that are awaited

    /// Records the beginning of a request.
    func expectRequest(on stream: HTTP2Stream) {
        guard role == .server else { return }
        stream.awaitedSince = now
        awaitedRequests += 1
    }

    /// Records that a request is complete, or never will be.
    func requestEnded(on stream: HTTP2Stream) {
        guard stream.awaitedSince != nil else { return }
        stream.awaitedSince = nil
        awaitedRequests -= 1
    }

    /// The time at which the longest awaited request began.
    var oldestAwaited: NIODeadline? { everyStream.compactMap(\.awaitedSince).min() }

    /// Gives up every request that began at or before an instant and is not complete; further bytes on its stream are
    /// not read. A request with a complete head is passed to the owner, which responds; any other stream is reset.
    func giveUpRequests(begunBy instant: NIODeadline) {
        for stream in everyStream where stream.awaitedSince.map({ $0 <= instant }) ?? false {
            requestEnded(on: stream)
            refuseBody(of: stream)
            // A body that was too large was answered for that.
            let isAnswerable = stream.headIsComplete && !stream.wasDelivered
            stream.wasDelivered = true
            if isAnswerable {
                stream.fault = stream.fault ?? .bodyLate
                stream.endsEarly = true
                owner?.messageReceived(stream)
            } else {
                reset(stream.id, code: NGHTTP2_CANCEL.rawValue)
            }
        }
    }

    // MARK: Control frames

    /// Sends GOAWAY: streams up to a last one still get a response.
    ///
    /// - Parameter last: The last stream; `nil` for the last one received.
    func submitGoAway(code: UInt32, debugData: [UInt8] = [], last: Int32? = nil) {
        let last = last ?? nghttp2_session_get_last_proc_stream_id(pointer)
        nghttp2_submit_goaway(pointer, 0, last, code, debugData, debugData.count)
    }

    /// Sends SETTINGS with the number of streams that the peer may have open.
    func submitStreamLimit(_ count: UInt32) {
        let entry = nghttp2_settings_entry(
            settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: count)
        nghttp2_submit_settings(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), [entry], 1)
    }

    /// The number of streams that the peer allows to be open, by its latest SETTINGS.
    var peerStreamLimit: Int {
        Int(nghttp2_session_get_remote_settings(pointer, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }

    /// Sends PING; its acknowledgement is a call of the owner.
    func submitPing() { nghttp2_submit_ping(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil) }

    /// Ends a stream at once.
    func reset(_ id: Int32, code: UInt32) { nghttp2_submit_rst_stream(pointer, 0, id, code) }
}

/// Why a session could not go on.
enum HTTP2SessionError: Error, Hashable, CustomStringConvertible {
    /// nghttp2's own error code, negative.
    case library(code: Int32)
    /// Too many frames wait to be written.
    case peerDoesNotRead
    /// No token was left for a frame without work; see ``FrameBudget``.
    case tooManyFrames(FrameBudget.Kind)

    var description: String {
        switch self {
        case .library(let code): "nghttp2: \(String(cString: nghttp2_strerror(code)))"
        case .peerDoesNotRead: "the peer makes frames wait and does not read them"
        case .tooManyFrames(let kind): "the peer sends too many frames without work, at last \(kind.rawValue)"
        }
    }
}
