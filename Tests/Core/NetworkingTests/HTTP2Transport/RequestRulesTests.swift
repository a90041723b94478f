import NIOCore
import Testing

@testable import Networking

/// The rules for a request's fields, and what becomes of a body that is too large.
@Suite struct RequestRulesTests {
    private static func verdict(_ fields: [(String, String)], isTrailer: Bool = false) -> (
        accepts: Bool, rules: RequestRules
    ) {
        var rules = RequestRules()
        for (name, value) in fields {
            let name = Array(name.utf8)
            let value = Array(value.utf8)
            let accepts = name.withUnsafeBufferPointer { name in
                value.withUnsafeBufferPointer { rules.accepts(name: name, value: $0, isTrailer: isTrailer) }
            }
            guard accepts else { return (false, rules) }
        }
        return (true, rules)
    }

    private static let head = [(":method", "POST"), (":scheme", "https"), (":path", "/"), ("host", "localhost")]

    @Test(arguments: [
        ("x-note", "a\nb", true), ("x-note", "plain", false), ("x-note", " blanks ", false), ("x-note", "é", false),
        ("x-note", "a\u{0}", true), ("x-note", "a\u{7F}", true), ("x-note", "a\tb", false),
    ])
    func `a value with bytes that HTTP forbids is let through and marked`(name: String, value: String, isIllegal: Bool)
    {
        let (accepts, rules) = Self.verdict(Self.head + [(name, value)])
        #expect(accepts && rules.headIsWhole && rules.hasIllegalValue == isIllegal)
    }

    @Test(arguments: ["/", "", "x", "/3/device/{length = 32}", "/a\nb", "/é"])
    func `a path of any bytes is let through`(path: String) {
        let (accepts, rules) = Self.verdict(
            [(":method", "POST"), (":scheme", "https"), (":authority", "localhost"), (":path", path)])
        #expect(accepts && rules.headIsWhole && !rules.hasIllegalValue)
    }

    @Test(arguments: [
        ("Upper", "x"), ("", "x"), ("a b", "x"), (":status", "200"), (":path", "/again"), ("connection", "close"),
        ("keep-alive", "1"), ("proxy-connection", "x"), ("transfer-encoding", "chunked"), ("upgrade", "h2c"),
        ("te", "gzip"),
    ])
    func `any other fault is malformed`(name: String, value: String) {
        #expect(!Self.verdict(Self.head + [(name, value)]).accepts)
    }

    @Test(arguments: ["", "-1", "1e3", "99999999999999999999", "3, 3"])
    func `a length that is no number is the length of no body`(value: String) {
        var (accepts, rules) = Self.verdict(Self.head + [("content-length", value)])
        #expect(accepts && rules.headIsWhole && !rules.bodyIsWhole)
        let counted = rules.count(bodyBytes: 1)
        #expect(!counted && !rules.bodyIsWhole)
    }

    @Test(arguments: 0..<4) func `a head without one of its fields is not whole`(missing: Int) {
        var fields = Self.head
        fields.remove(at: missing)
        let (accepts, rules) = Self.verdict(fields)
        #expect(accepts && !rules.headIsWhole)
    }

    @Test func `a body has the announced length`() {
        var rules = Self.verdict(Self.head + [("content-length", "3")]).rules
        #expect(!rules.bodyIsWhole)
        let first = rules.count(bodyBytes: 3)
        #expect(first && rules.bodyIsWhole)
        let second = rules.count(bodyBytes: 1)
        #expect(!second && !rules.bodyIsWhole)
    }

    @Test func `trailers have no pseudo-header field and no forbidden bytes`() {
        #expect(Self.verdict([("x-checksum", "1")], isTrailer: true).accepts)
        #expect(!Self.verdict([(":path", "/")], isTrailer: true).accepts)
        #expect(!Self.verdict([("x-checksum", "a\nb")], isTrailer: true).accepts)
    }

    private func begin(_ peer: RawPeer) throws {
        try peer.send(
            RawFrame(kind: .headers, flags: RawFrame.endHeaders, stream: 1, payload: RawFrame.requestHead))
    }

    private func send(_ count: Int, to peer: RawPeer) throws {
        for _ in 0..<count {
            try peer.send(RawFrame(kind: .data, stream: 1, payload: [UInt8](repeating: 0x78, count: 16_000)))
        }
    }

    @Test func `a body that is too large is read to its end before the response`() throws {
        let peer = try RawPeer()
        try begin(peer)
        try send(60, to: peer)
        #expect(peer.handler.requests.isEmpty)
        try peer.send(RawFrame(kind: .data, flags: RawFrame.endStream, stream: 1))
        #expect(peer.handler.requests == [1])
        let frames = try peer.receive()
        #expect(frames.contains { $0.kind == .headers } && !frames.contains { $0.kind == .resetStream })
    }

    @Test func `a body beyond every limit is answered and reset`() throws {
        let peer = try RawPeer()
        try begin(peer)
        try send(66, to: peer)
        #expect(peer.handler.requests == [1])
        let frames = try peer.receive()
        #expect(frames.contains { $0.kind == .headers })
        #expect(frames.last == RawFrame.resetStream(1, code: 0))
    }
}
