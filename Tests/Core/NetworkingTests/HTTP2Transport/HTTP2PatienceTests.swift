import NIOCore
import NIOEmbedded
import NIOPosix
import PushCore
import Testing

@testable import Networking

/// What a server's connection does with peers that take their time, never finish or never read.
@Suite(.timeLimit(.minutes(5))) struct HTTP2PatienceTests {
    /// How a request may be left open, and what would have completed it.
    static let halves: [(begun: [RawFrame], rest: RawFrame)] = [
        (
            [RawFrame(kind: .headers, flags: RawFrame.endHeaders, stream: 1, payload: RawFrame.requestHead)],
            RawFrame(kind: .data, flags: RawFrame.endStream, stream: 1, payload: [1])
        ),
        (
            [
                RawFrame(kind: .headers, flags: RawFrame.endHeaders, stream: 1, payload: RawFrame.requestHead),
                RawFrame(kind: .data, stream: 1, payload: [1, 2, 3]),
            ],
            RawFrame(kind: .data, flags: RawFrame.endStream, stream: 1)
        ),
        (
            [RawFrame(kind: .headers, flags: RawFrame.endStream, stream: 1, payload: RawFrame.requestHead)],
            RawFrame(kind: .continuation, flags: RawFrame.endHeaders, stream: 1)
        ),
    ]

    private func whole(_ stream: Int32, body: String = "") -> [UInt8] {
        RawFrame(kind: .headers, flags: RawFrame.endHeaders, stream: stream, payload: RawFrame.requestHead).bytes
            + RawFrame(kind: .data, flags: RawFrame.endStream, stream: stream, payload: Array(body.utf8)).bytes
    }

    private func answers(_ frames: [RawFrame]) -> [Int32] { frames.filter { $0.kind == .headers }.map(\.stream) }

    @Test(arguments: halves.indices)
    func `a request that is not complete in time is given up, and what still comes of it forgotten`(
        index: Int
    ) throws {
        let peer = try RawPeer()
        let (begun, rest) = Self.halves[index]
        for frame in begun { try peer.send(frame) }
        peer.advance(.seconds(59))
        #expect(try peer.receive().isEmpty)
        peer.advance(.seconds(1))
        let frames = try peer.receive()
        // One whose head is there has an answer before its stream is reset; nothing can be said to half a head.
        let isAnswered = Self.isAnswerable(index)
        #expect(answers(frames) == (isAnswered ? [1] : []))
        #expect(frames.last == RawFrame.resetStream(1, code: isAnswered ? 0 : 8))
        #expect(frames.count == (isAnswered ? 2 : 1))
        #expect(peer.handler.late == (isAnswered ? [1] : []))
        try peer.send(rest)
        try peer.send(bytes: whole(3))
        #expect(answers(try peer.receive()) == [3])
        #expect(peer.handler.requests == (isAnswered ? [1, 3] : [3]))
        #expect(peer.handler.late == (isAnswered ? [1] : []))
        #expect(peer.channel.isActive)
    }

    /// Whether the head of a half request is complete.
    private static func isAnswerable(_ index: Int) -> Bool { halves[index].rest.kind == .data }

    @Test(arguments: halves.indices)
    func `an end that cannot be written yet lets nothing of the request through`(index: Int) throws {
        let peer = try RawPeer()
        let (begun, rest) = Self.halves[index]
        let isAnswered = Self.isAnswerable(index)
        for frame in begun { try peer.send(frame) }
        peer.channel.isWritable = false
        peer.advance(.seconds(60))
        try peer.send(rest)
        #expect(peer.handler.requests == (isAnswered ? [1] : []))
        peer.channel.isWritable = true
        peer.channel.pipeline.fireChannelWritabilityChanged()
        #expect(answers(try peer.receive()) == (isAnswered ? [1] : []))
        #expect(peer.handler.requests == (isAnswered ? [1] : []))
    }

    @Test func `every request has its own time`() throws {
        let peer = try RawPeer()
        func begin(_ stream: Int32) throws {
            try peer.send(
                RawFrame(kind: .headers, flags: RawFrame.endHeaders, stream: stream, payload: RawFrame.requestHead))
        }
        try begin(1)
        peer.advance(.seconds(20))
        try begin(3)
        peer.advance(.seconds(20))
        try begin(5)
        // The first one is completed in time.
        try peer.send(RawFrame(kind: .data, flags: RawFrame.endStream, stream: 1))
        #expect(answers(try peer.receive()) == [1])
        peer.advance(.seconds(20))
        #expect(try peer.receive().isEmpty)
        peer.advance(.seconds(20))
        #expect(try peer.receive().last == RawFrame.resetStream(3, code: 0))
        peer.advance(.seconds(20))
        #expect(try peer.receive().last == RawFrame.resetStream(5, code: 0))
        #expect(peer.handler.requests == [1, 3, 5])
        #expect(peer.handler.late == [3, 5])
    }

    @Test func `a request that is complete waits for its answer without a limit`() throws {
        let peer = try RawPeer()
        try peer.send(bytes: whole(1, body: "silent"))
        peer.advance(.minutes(30))
        #expect(try peer.receive().isEmpty)
        #expect(peer.handler.requests == [1])
    }

    @Test func `a listener gives its limit to its connections`() async throws {
        var configuration = HTTP2Listener.Configuration(host: "127.0.0.1", port: 0, tls: nil)
        configuration.requestTimeout = .milliseconds(50)
        let group = MultiThreadedEventLoopGroup.singleton
        let listener = try await HTTP2Listener.bind(configuration, on: group) { _ in CountingHandler() }
        let reset = group.next().makePromise(of: Void.self)
        let channel = try await ClientBootstrap(group: group).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(ResetWatcher(reset))
            }
        }.connect(host: "127.0.0.1", port: listener.port).get()
        let begun = Self.halves[2].begun.flatMap(\.bytes)
        try await channel.writeAndFlush(ByteBuffer(bytes: RawFrame.clientPreface + begun))
        try await reset.futureResult.get()
        try await channel.close()
        await listener.shutDown()
    }

    // MARK: Peers that do not read

    /// What makes the server write, and how it is made again and again.
    static let floods: [(name: String, frame: @Sendable (Int32) -> [UInt8])] = [
        ("pings", { _ in RawFrame(kind: .ping, payload: [UInt8](repeating: 0, count: 8)).bytes }),
        ("settings", { _ in RawFrame(kind: .settings).bytes }),
        (
            "requests beyond the limit of streams",
            { number in
                RawFrame(
                    kind: .headers, flags: RawFrame.endHeaders | RawFrame.endStream, stream: 2 * number + 1,
                    payload: RawFrame.requestHead
                ).bytes
            }
        ),
        (
            "malformed requests",
            { number in
                RawFrame(
                    kind: .headers, flags: RawFrame.endHeaders | RawFrame.endStream, stream: 2 * number + 1,
                    payload: [0x83]
                ).bytes
            }
        ),
    ]

    @Test(arguments: floods.indices)
    func `a peer that makes the server write and never reads is cut off`(index: Int) throws {
        let peer = try RawPeer()
        peer.channel.isWritable = false
        var sent: Int32 = 0
        while peer.channel.isActive, sent < 100_000 {
            try peer.send(bytes: (0..<100).flatMap { Self.floods[index].frame(sent + $0) })
            sent += 100
        }
        #expect(!peer.channel.isActive, "\(Self.floods[index].name)")
        #expect(sent <= 12_000, "\(Self.floods[index].name)")
    }
}

/// Succeeds when the stream is reset with CANCEL.
private final class ResetWatcher: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let promise: EventLoopPromise<Void>
    private var received = ByteBuffer()

    init(_ promise: EventLoopPromise<Void>) { self.promise = promise }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received.writeImmutableBuffer(unwrapInboundIn(data))
        if RawFrame.take(from: &received).contains(RawFrame.resetStream(1, code: 8)) { promise.succeed() }
    }

    func channelInactive(context: ChannelHandlerContext) { promise.fail(ChannelError.eof) }
}
