import CNghttp2

/// The rules for the fields of a request (RFC 9113, section 8) that a server checks itself: a value.
///
/// nghttp2 resets the stream of a request whose path or field value has bytes that HTTP forbids, before anybody sees it. Libraries
/// of providers send such bytes, such as a device token that was printed with spaces, and some wait forever for the response to a
/// stream that is reset. So those bytes are let through, marked, and a handler answers with a reason, as it does for a body of another
/// length than announced. Any other fault is malformed.
struct RequestRules: Sendable {
    private struct Seen: OptionSet {
        let rawValue: UInt8
        static let method = Seen(rawValue: 1)
        static let scheme = Seen(rawValue: 2)
        static let path = Seen(rawValue: 4)
        static let authority = Seen(rawValue: 8)
        static let regular = Seen(rawValue: 16)
        static let host = Seen(rawValue: 32)
    }

    private var seen: Seen = []
    /// The announced length; -1 for one that no body has.
    private var contentLength: Int?
    /// The bytes of the body so far.
    private(set) var bodyBytes = 0
    /// Whether a field's value has bytes that HTTP forbids.
    private(set) var hasIllegalValue = false

    /// Checks a field of the head or of the trailers.
    ///
    /// - Returns: `false` when it makes the request malformed.
    mutating func accepts(
        name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>, isTrailer: Bool
    ) -> Bool {
        guard nghttp2_check_header_name(name.baseAddress, name.count) != 0 else { return false }
        if name.first == UInt8(ascii: ":") { return !isTrailer && acceptsPseudo(name, value) }
        seen.insert(.regular)
        if nghttp2_check_header_value(value.baseAddress, value.count) == 0 {
            guard !isTrailer else { return false }
            hasIllegalValue = true
        }
        return isTrailer || acceptsRegular(name, value)
    }

    private mutating func acceptsPseudo(
        _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        let field: Seen
        switch name.count {
        case 5 where Self.equal(name, ":path"): field = .path
        case 7 where Self.equal(name, ":method"): field = .method
        case 7 where Self.equal(name, ":scheme"): field = .scheme
        case 10 where Self.equal(name, ":authority"): field = .authority
        default: return false
        }
        // The bytes of a path are the handler's to judge; those of the others come from no caller's text.
        guard field == .path || nghttp2_check_header_value_rfc9113(value.baseAddress, value.count) != 0,
            !seen.contains(field), !seen.contains(.regular)
        else { return false }
        seen.insert(field)
        return true
    }

    private mutating func acceptsRegular(
        _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        switch name.count {
        case 2 where Self.equal(name, "te"): return Self.equal(value, "trailers")
        case 4 where Self.equal(name, "host"): seen.insert(.host)
        case 7 where Self.equal(name, "upgrade"): return false
        case 10 where Self.equal(name, "connection") || Self.equal(name, "keep-alive"): return false
        case 14 where Self.equal(name, "content-length"):
            let isLength = contentLength == nil && value.allSatisfy { (0x30...0x39).contains($0) }
            contentLength = isLength ? Int(String(decoding: value, as: UTF8.self)) ?? -1 : -1
        case 16 where Self.equal(name, "proxy-connection"): return false
        case 17 where Self.equal(name, "transfer-encoding"): return false
        default: break
        }
        return true
    }

    /// Whether the head has the fields that every request has.
    var headIsWhole: Bool {
        seen.isSuperset(of: [.method, .scheme, .path]) && !seen.isDisjoint(with: [.authority, .host])
    }

    /// Counts bytes of the body; `false` when they are more than `content-length` announced.
    mutating func count(bodyBytes count: Int) -> Bool {
        bodyBytes += count
        return bodyBytes <= contentLength ?? .max
    }

    /// Whether the body that has ended is as long as announced.
    var bodyIsWhole: Bool { contentLength == nil || contentLength == bodyBytes }

    private static func equal(_ bytes: UnsafeBufferPointer<UInt8>, _ expected: StaticString) -> Bool {
        guard bytes.count == expected.utf8CodeUnitCount else { return false }
        for index in 0..<bytes.count where bytes[index] != expected.utf8Start[index] { return false }
        return true
    }
}
