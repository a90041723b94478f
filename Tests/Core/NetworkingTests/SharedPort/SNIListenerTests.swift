import Logging
import NIOCore
import NIOPosix
import Testing

@testable import Networking

/// Answers the number of bytes that came with its name.
private final class NamedEcho: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    let name: String

    init(_ name: String) { self.name = name }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let count = unwrapInboundIn(data).readableBytes
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "\(name) \(count)\n")), promise: nil)
    }
}

/// Collects what a client reads.
private final class Collector: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    let read: AsyncStream<String>.Continuation

    init(_ read: AsyncStream<String>.Continuation) { self.read = read }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { read.yield(String(buffer: unwrapInboundIn(data))) }
    func channelInactive(context: ChannelHandlerContext) { read.finish() }
}

@Suite(.timeLimit(.minutes(5))) struct SNIListenerTests {
    private let group = MultiThreadedEventLoopGroup.singleton

    private func server(_ name: String) async throws -> any Channel {
        try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NamedEcho(name))
                }
            }.bind(host: "127.0.0.1", port: 0).get()
    }

    private func client(_ port: Int) async throws -> (any Channel, AsyncStream<String>) {
        let (stream, continuation) = AsyncStream<String>.makeStream()
        let channel = try await ClientBootstrap(group: group)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(continuation))
                }
            }.connect(host: "127.0.0.1", port: port).get()
        return (channel, stream)
    }

    /// A ClientHello (RFC 8446, section 4.1.2) with one cipher suite, and the name as its only extension.
    private func hello(_ name: String?) -> [UInt8] {
        func counted(_ bytes: [UInt8], by size: Int) -> [UInt8] {
            (0..<size).reversed().map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) } + bytes
        }
        let entry = name.map { [0] + counted(Array($0.utf8), by: 2) }
        let extensions = entry.map { [0, 0] + counted(counted($0, by: 2), by: 2) } ?? []
        let body =
            [3, 3] + [UInt8](repeating: 1, count: 32) + [0] + counted([0x13, 0x01], by: 2) + counted([0], by: 1)
            + counted(extensions, by: 2)
        let handshake = [1] + counted(body, by: 3)
        return [0x16, 3, 1] + counted(handshake, by: 2)
    }

    @Test(arguments: [
        ("api.push.apple.com", "apns"), ("API.Sandbox.Push.Apple.com", "apns"), ("fcm.googleapis.com", "control"),
        (nil, "control"),
    ])
    func `a connection goes to the port of its server name, with all its bytes`(
        name: String?, expected: String
    ) async throws {
        let (apns, control) = (try await server("apns"), try await server("control"))
        let (apnsPort, controlPort) = (apns.localAddress?.port ?? 0, control.localAddress?.port ?? 0)
        let limiter = ConnectionLimiter(
            listener: "test",
            ConnectionLimiter.Configuration(limits: .init(total: 10, perAddress: 10, unproven: 10)),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let listener = try await SNIListener.bind(host: "127.0.0.1", port: 0, limiter: limiter, on: group) {
            $0?.lowercased().hasSuffix("push.apple.com") == true ? apnsPort : controlPort
        }
        let (channel, stream) = try await client(listener.port)
        let bytes = hello(name)
        // In two pieces: the name is not known before both are there.
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes.prefix(20)))
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes.dropFirst(20)))
        var iterator = stream.makeAsyncIterator()
        let first = try #require(await iterator.next())
        #expect(first.hasPrefix(expected))
        var received = first.split(separator: "\n").compactMap { Int($0.split(separator: " ")[1]) }.reduce(0, +)
        while received < bytes.count, let next = await iterator.next() {
            received += next.split(separator: "\n").compactMap { Int($0.split(separator: " ")[1]) }.reduce(0, +)
        }
        #expect(received == bytes.count)
        try await channel.close()
        await listener.close()
        try await apns.close()
        try await control.close()
    }

    @Test func `a connection to a port where nobody listens is closed`() async throws {
        let limiter = ConnectionLimiter(
            listener: "test",
            ConnectionLimiter.Configuration(limits: .init(total: 10, perAddress: 10, unproven: 10)),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        // Port 1 is never given out as a free one, and nobody listens on it.
        let listener = try await SNIListener.bind(host: "127.0.0.1", port: 0, limiter: limiter, on: group) { _ in 1 }
        let (channel, stream) = try await client(listener.port)
        try await channel.writeAndFlush(ByteBuffer(bytes: hello("a.example")))
        for await text in stream { Issue.record("it was answered: \(text)") }
        await listener.close()
    }
}
