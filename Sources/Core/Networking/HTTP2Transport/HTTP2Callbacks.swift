import CNghttp2
import PushCore

/// nghttp2's C callbacks, each of which finds its session and changes one stream.
enum HTTP2Callbacks {
    static func install(_ callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, headersBegan)
        nghttp2_session_callbacks_set_on_header_callback(callbacks, headerReceived)
        nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks, invalidHeaderReceived)
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, dataReceived)
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, frameReceived)
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, frameSent)
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, streamClosed)
    }

    private static func session(_ data: UnsafeMutableRawPointer?) -> HTTP2Session? {
        // The session passes itself as the callbacks' data. It outlives nghttp2's session, which its deinit
        // deletes.
        data.map { Unmanaged<HTTP2Session>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let headersBegan: nghttp2_on_begin_headers_callback = { _, frame, data in
        guard let session = session(data), let frame else { return 0 }
        let id = frame.pointee.hd.stream_id
        if let stream = session.stream(id) {
            stream.beginHeaderBlock()
        } else {
            session.expectRequest(on: session.openStream(id))
        }
        return 0
    }

    private static let headerReceived: nghttp2_on_header_callback = {
        _, frame, name, nameLength, value, valueLength, _, data in
        guard let session = session(data), let frame, let stream = session.stream(frame.pointee.hd.stream_id) else {
            return 0
        }
        let bytes = nameLength + valueLength
        stream.countField(bytes: bytes)
        guard stream.blockFits(session.limits) else { return blockExceeded(stream, session) }
        let name = UnsafeBufferPointer(start: name, count: nameLength)
        let value = UnsafeBufferPointer(start: value, count: valueLength)
        if session.role == .server,
            !stream.rules.accepts(name: name, value: value, isTrailer: stream.headIsComplete)
        {
            session.refuseMalformed(stream)
            return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        }
        // Trailers are counted like the head and are no part of it (RFC 9110, section 6.5.1).
        guard !stream.headIsComplete else { return 0 }
        guard session.hold(bytes + HTTP2Limits.fieldOverhead, for: stream) else {
            return session.refuseHeaders(of: stream)
        }
        stream.headers.append(name: name, value: value)
        return 0
    }

    /// Handles a field beyond the limits of a header block. The head of a request gets an answer, since some libraries wait
    /// forever for the response to a stream that is reset; a block that is far larger comes from no library's mistake.
    private static func blockExceeded(_ stream: HTTP2Stream, _ session: HTTP2Session) -> Int32 {
        guard session.role == .server, !stream.headIsComplete, !stream.wasDelivered,
            stream.blockFits(session.limits, times: HTTP2Limits.answeredExcess)
        else { return session.refuseHeaders(of: stream) }
        stream.fault = .headersTooLarge
        return 0
    }

    /// Resets the stream of a response with a field that HTTP/2 forbids (RFC 9113, section 8.2.1): without this
    /// callback nghttp2 drops the field in silence. A server checks with ``RequestRules``.
    private static let invalidHeaderReceived: nghttp2_on_invalid_header_callback = { _, _, _, _, _, _, _, _ in
        NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }

    private static let dataReceived: nghttp2_on_data_chunk_recv_callback = { _, _, id, bytes, count, data in
        guard let session = session(data), let stream = session.stream(id), !stream.wasDelivered else { return 0 }
        let fault: HTTP2Request.Fault? =
            stream.rules.count(bodyBytes: count)
            ? stream.body.count + count <= session.limits.bodyBytes ? nil : .bodyTooLarge : .wrongLength
        guard stream.fault == nil, fault == nil else {
            stream.fault = stream.fault ?? fault
            dropRest(of: stream, session)
            return 0
        }
        guard session.hold(count, for: stream) else {
            session.dropBody(of: stream)
            stream.wasDelivered = true
            session.requestEnded(on: stream)
            session.reset(id, code: NGHTTP2_ENHANCE_YOUR_CALM.rawValue)
            return 0
        }
        stream.body.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
        return 0
    }

    /// Drops the body of a request with a fault. Clients that read no response before they have sent their whole body get it
    /// after the body's end, up to a limit; beyond it the response comes at once, and the stream is reset after it.
    private static func dropRest(of stream: HTTP2Stream, _ session: HTTP2Session) {
        session.dropBody(of: stream)
        guard stream.rules.bodyBytes > session.limits.droppedBodyBytes else { return }
        session.refuseBody(of: stream)
        stream.endsEarly = true
        deliver(stream, session)
    }

    private static let frameReceived: nghttp2_on_frame_recv_callback = { _, frame, data in
        guard let session = session(data), let frame else { return 0 }
        let header = frame.pointee.hd
        switch UInt32(header.type) {
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            guard let stream = session.stream(header.stream_id) else { return 0 }
            let hasEnded = UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
            if UInt32(header.type) == NGHTTP2_HEADERS.rawValue {
                // Trailers end their stream (RFC 9113, section 8.1).
                if stream.headIsComplete, !hasEnded { session.refuseMalformed(stream) }
                headEnded(stream, session.role)
            }
            guard
                session.role == .client || stream.wasDelivered || stream.rules.headIsWhole
                    || stream.fault == .headersTooLarge
            else {
                session.refuseMalformed(stream)
                return 0
            }
            guard hasEnded else { return 0 }
            if session.role == .server, !stream.rules.bodyIsWhole {
                stream.fault = stream.fault ?? .wrongLength
                session.dropBody(of: stream)
            }
            session.requestEnded(on: stream)
            deliver(stream, session)
        case NGHTTP2_GOAWAY.rawValue:
            let goAway = frame.pointee.goaway
            let debug = UnsafeBufferPointer(start: goAway.opaque_data, count: goAway.opaque_data_len)
            session.owner?.goAwayReceived(
                lastStream: goAway.last_stream_id, code: goAway.error_code, debugData: Array(debug))
        case NGHTTP2_SETTINGS.rawValue where UInt32(header.flags) & NGHTTP2_FLAG_ACK.rawValue == 0:
            session.owner?.settingsReceived()
        case NGHTTP2_PING.rawValue where UInt32(header.flags) & NGHTTP2_FLAG_ACK.rawValue != 0:
            session.owner?.pingAcknowledged()
        default:
            break
        }
        return 0
    }

    /// Resets a stream after the response to a body that was too large or late, since the rest of that body is not
    /// needed (RFC 9113, section 8.1). A reset that is queued earlier would overtake the response.
    private static let frameSent: nghttp2_on_frame_send_callback = { pointer, frame, data in
        guard let header = frame?.pointee.hd, UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0,
            let stream = session(data)?.stream(header.stream_id), stream.endsEarly
        else { return 0 }
        nghttp2_submit_rst_stream(pointer, 0, header.stream_id, NGHTTP2_NO_ERROR.rawValue)
        return 0
    }

    private static let streamClosed: nghttp2_on_stream_close_callback = { _, id, code, data in
        session(data)?.closeStream(id, code: code)
        return 0
    }

    /// Ends a head. The fields of an interim response (1xx) are not those of the response that follows (RFC 9113,
    /// section 8.1).
    private static func headEnded(_ stream: HTTP2Stream, _ role: HTTP2Session.Role) {
        guard !stream.headIsComplete else { return }
        if role == .client, let status = stream.headers.first(":status"),
            stream.headers.value(status).first == UInt8(ascii: "1")
        {
            stream.headers.removeAll()
        } else {
            stream.headIsComplete = true
        }
    }

    private static func deliver(_ stream: HTTP2Stream, _ session: HTTP2Session) {
        guard !stream.wasDelivered else { return }
        stream.wasDelivered = true
        session.owner?.messageReceived(stream)
    }
}

extension HTTP2Session {
    /// Queues a response: HEADERS, and one DATA frame when there is a body.
    ///
    /// - Returns: `false` when the stream is gone.
    @discardableResult
    func submitResponse(_ id: Int32, headers: HeaderBlock, body: [UInt8]) -> Bool {
        guard let stream = stream(id) else { return false }
        stream.outgoing = body
        stream.outgoingOffset = 0
        return withNameValues(headers) { values, count in
            if body.isEmpty { return nghttp2_submit_response(pointer, id, values, count, nil) == 0 }
            var provider = Self.provider(of: stream)
            return nghttp2_submit_response(pointer, id, values, count, &provider) == 0
        }
    }

    /// Queues a request and opens its stream.
    ///
    /// - Returns: `nil` when nghttp2 refuses another stream (identifiers used up, or going away).
    func submitRequest(headers: HeaderBlock, body: [UInt8]) -> HTTP2Stream? {
        withNameValues(headers) { values, count in
            guard !body.isEmpty else {
                let id = nghttp2_submit_request(pointer, nil, values, count, nil, nil)
                return id > 0 ? openStream(id) : nil
            }
            // The stream's state must exist before nghttp2 reads the body, and its id is known only afterwards;
            // nghttp2 reads no body before the next write, so the source can be filled in between.
            let stream = openDetachedStream()
            stream.outgoing = body
            var provider = Self.provider(of: stream)
            let id = nghttp2_submit_request(pointer, nil, values, count, &provider, nil)
            guard id > 0 else {
                discardDetachedStream(stream)
                return nil
            }
            attach(stream, id: id)
            return stream
        }
    }

    private static func provider(of stream: HTTP2Stream) -> nghttp2_data_provider {
        var provider = nghttp2_data_provider()
        provider.source.ptr = Unmanaged.passUnretained(stream).toOpaque()
        provider.read_callback = { _, _, buffer, length, flags, source, _ in
            guard let pointer = source?.pointee.ptr, let buffer, let flags else {
                return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
            }
            let stream = Unmanaged<HTTP2Stream>.fromOpaque(pointer).takeUnretainedValue()
            let count = min(length, stream.outgoing.count - stream.outgoingOffset)
            stream.outgoing.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress else { return }
                UnsafeMutableRawPointer(buffer).copyMemory(from: start + stream.outgoingOffset, byteCount: count)
            }
            stream.outgoingOffset += count
            if stream.outgoingOffset == stream.outgoing.count { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
            return count
        }
        return provider
    }

    /// The flags of a field. The value of `apns-id` is another one in each message, so an entry of the dynamic table
    /// would displace those of fields that recur (RFC 7541, section 4.4).
    private func flags(_ name: UnsafeBufferPointer<UInt8>) -> UInt8 {
        let isUnique = name.elementsEqual("apns-id".utf8)
        return UInt8(isUnique ? NGHTTP2_NV_FLAG_NO_INDEX.rawValue : NGHTTP2_NV_FLAG_NONE.rawValue)
    }

    /// Passes the fields of a block to nghttp2, which copies them during the call.
    private func withNameValues<Result>(
        _ headers: HeaderBlock, _ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result
    ) -> Result {
        withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: max(1, headers.count)) { values in
            headers.withUnsafeFields { index, name, value in
                values.initializeElement(
                    at: index,
                    to: nghttp2_nv(
                        name: UnsafeMutablePointer(mutating: name.baseAddress),
                        value: UnsafeMutablePointer(mutating: value.baseAddress), namelen: name.count,
                        valuelen: value.count, flags: flags(name)))
            } then: {
                body(UnsafePointer(values.baseAddress), headers.count)
            }
        }
    }
}
