import NIOCore
import Testing

@testable import Networking

/// What a peer can make a server decode, count and keep.
@Suite struct HTTP2BudgetTests {
    /// `POST /` whose head ends with a field of 3,900 bytes that enters the dynamic table (RFC 7541, section 6.2.1).
    private static let headThatFillsTheTable: [UInt8] =
        RawFrame.requestHead + [0x40, 0x01, UInt8(ascii: "x")] + length(3900)
        + [UInt8](repeating: UInt8(ascii: "y"), count: 3900)

    /// Names that table's newest entry, one byte a field.
    private static let newestEntry: UInt8 = 0xBE

    /// An integer with a prefix of seven bits (RFC 7541, section 5.1), for values of 127 to 16,510.
    private static func length(_ value: Int) -> [UInt8] {
        [0x7F, UInt8((value - 127) & 0x7F) | 0x80, UInt8((value - 127) >> 7)]
    }

    private func head(_ stream: Int32, _ block: [UInt8], flags: UInt8 = RawFrame.endHeaders) -> [UInt8] {
        RawFrame(kind: .headers, flags: flags, stream: stream, payload: block).bytes
    }

    private func session(_ limits: HTTP2Limits = HTTP2Limits()) throws -> HTTP2Session {
        let session = try HTTP2Session(role: .server, limits: limits)
        try receive(RawFrame.clientPreface, session)
        return session
    }

    private func receive(_ bytes: [UInt8], _ session: HTTP2Session) throws {
        try bytes.withUnsafeBytes { try session.receive($0, at: .uptimeNanoseconds(1)) }
    }

    private func send(_ session: HTTP2Session) throws -> [RawFrame] {
        var buffer = ByteBuffer()
        while try session.write(into: &buffer, limit: 1 << 16) {}
        return RawFrame.take(from: &buffer)
    }

    @Test func `of a block that names one field again and again, no more fields are looked at than are allowed`() throws
    {
        let session = try session()
        try receive(head(1, Self.headThatFillsTheTable), session)
        let block = RawFrame.requestHead + [UInt8](repeating: Self.newestEntry, count: 16_000)
        try receive(head(3, block), session)
        let stream = try #require(session.stream(3))
        #expect(stream.blockFields <= HTTP2Limits().headerFields + 1)
        #expect(try send(session).contains(RawFrame.resetStream(3, code: 11)))
    }

    @Test(arguments: [(100, true), (300, false)])
    func `a block of many small fields is answered or reset for their number`(count: Int, isAnswered: Bool) throws {
        let peer = try RawPeer()
        // `accept-charset` with no value stands in the static table (RFC 7541, appendix A).
        let block = RawFrame.requestHead + [UInt8](repeating: 0x8F, count: count)
        try peer.send(bytes: head(1, block, flags: RawFrame.endHeaders | RawFrame.endStream))
        #expect(try peer.receive().contains(RawFrame.resetStream(1, code: 11)) != isAnswered)
        #expect(peer.handler.requests == (isAnswered ? [1] : []))
        #expect(peer.handler.faults == (isAnswered ? [.headersTooLarge] : []))
    }

    @Test func `fields of trailers are counted like those of the head`() throws {
        let session = try session()
        try receive(head(1, Self.headThatFillsTheTable), session)
        let trailers = [UInt8](repeating: Self.newestEntry, count: 16_000)
        try receive(head(1, trailers, flags: RawFrame.endHeaders | RawFrame.endStream), session)
        #expect(try #require(session.stream(1)).blockFields <= HTTP2Limits().headerFields + 1)
        #expect(try send(session).contains(RawFrame.resetStream(1, code: 11)))
    }

    @Test func `a peer whose blocks are beyond the limits a few times is sent away`() throws {
        let peer = try RawPeer()
        try peer.send(bytes: head(1, Self.headThatFillsTheTable))
        let block = RawFrame.requestHead + [UInt8](repeating: Self.newestEntry, count: 16_000)
        var refused: [RawFrame] = []
        var stream: Int32 = 3
        while peer.channel.isActive, stream < 200 {
            try peer.send(bytes: head(stream, block, flags: RawFrame.endHeaders | RawFrame.endStream))
            refused += try peer.receive()
            stream += 2
        }
        #expect(!peer.channel.isActive)
        #expect(refused.count { $0.kind == .resetStream } <= HTTP2Limits().excessiveHeaderBlocks)
        let goAway = try #require(refused.last { $0.kind == .goAway })
        #expect(goAway.payload[4..<8].elementsEqual([0, 0, 0, 11]))
        #expect(peer.handler.requests.isEmpty)
    }

    @Test func `sixty-four fields are a request like any other`() throws {
        let peer = try RawPeer()
        let block = RawFrame.requestHead + (0..<60).flatMap { RawFrame.literal("x-\($0)", "1") }
        try peer.send(bytes: head(1, block, flags: RawFrame.endHeaders | RawFrame.endStream))
        #expect(peer.handler.requests == [1])
    }

    @Test func `all streams of a connection together keep no more than its budget`() throws {
        let session = try session()
        let fields = (0..<59).flatMap { RawFrame.literal("x-\($0)", String(repeating: "v", count: 120)) }
        for number in 0..<1000 as Range<Int32> {
            try receive(head(2 * number + 1, RawFrame.requestHead + fields), session)
            #expect(session.heldBytes <= HTTP2Limits().heldBytes)
            if session.heldBytes > HTTP2Limits().heldBytes - 8000 { break }
        }
        #expect(session.heldBytes > HTTP2Limits().heldBytes - 8000)
        try receive(head(1999, RawFrame.requestHead + fields), session)
        #expect(try send(session).contains(RawFrame.resetStream(1999, code: 11)))
    }

    @Test func `bodies count against the budget until they are handed over, and everything until its stream ends`()
        throws
    {
        var limits = HTTP2Limits()
        limits.heldBytes = 4096
        let session = try session(limits)
        try receive(head(1, RawFrame.requestHead), session)
        let headBytes = session.heldBytes
        try receive(RawFrame(kind: .data, stream: 1, payload: [UInt8](repeating: 1, count: 3000)).bytes, session)
        #expect(session.heldBytes == headBytes + 3000)
        try receive(head(3, RawFrame.requestHead), session)
        try receive(RawFrame(kind: .data, stream: 3, payload: [UInt8](repeating: 1, count: 3000)).bytes, session)
        #expect(try send(session).contains(RawFrame.resetStream(3, code: 11)))
        try receive(RawFrame(kind: .resetStream, stream: 1, payload: [0, 0, 0, 8]).bytes, session)
        #expect(session.heldBytes == 0)
    }
}
