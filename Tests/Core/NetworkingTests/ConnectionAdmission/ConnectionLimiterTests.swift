import Logging
import NIOCore
import NIOEmbedded
import NIOPosix
import Networking
import Testing

@Suite(.timeLimit(.minutes(5))) struct ConnectionLimiterTests {
    private func limiter(
        total: Int, perAddress: Int = 10, exempt: [AddressRange] = [], proofTimeout: TimeAmount = .seconds(30)
    ) -> ConnectionLimiter {
        ConnectionLimiter(
            listener: "test",
            ConnectionLimiter.Configuration(
                limits: .init(total: total, perAddress: perAddress, unproven: 10), exempt: exempt,
                proofTimeout: proofTimeout),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    private func connected(from address: String = "192.0.2.1") throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        channel.connect(to: try SocketAddress(ipAddress: address, port: 1), promise: nil)
        return channel
    }

    @Test func `the connection that gives way is closed, and its slot is free`() throws {
        let limiter = limiter(total: 1)
        let (first, second) = (try connected(), try connected())
        #expect(limiter.admit(first))
        #expect(limiter.admit(second))
        #expect(!first.isActive && second.isActive)
        #expect(limiter.count == 1)
        second.close(promise: nil)
        second.embeddedEventLoop.run()
        #expect(limiter.count == 0)
    }

    @Test func `an address has as many connections as it may, and one that is exempt as many as it likes`() throws {
        let proxies = [AddressRange("192.0.2.0/25"), AddressRange("2001:db8::7")].compactMap { $0 }
        #expect(proxies.count == 2)
        let limiter = limiter(total: 100, perAddress: 1, exempt: proxies)
        for address in ["192.0.2.1", "2001:db8::7", "192.0.2.200", "2001:db8::8"] {
            let isExempt = ["192.0.2.1", "2001:db8::7"].contains(address)
            #expect(limiter.admit(try connected(from: address)))
            #expect(limiter.admit(try connected(from: address)) == isExempt, "\(address)")
        }
    }

    @Test func `a connection that has proven itself outlives its deadline and keeps its slot`() throws {
        let limiter = limiter(total: 1)
        let (first, second) = (try connected(), try connected())
        #expect(limiter.admit(first))
        limiter.proven(first)
        first.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(first.isActive)
        #expect(!limiter.admit(second))
    }

    @Test func `a connection that does not prove itself is warned, and closed a second later`() throws {
        let limiter = limiter(total: 1)
        let channel = try connected()
        #expect(limiter.admit(channel))
        let watcher = OverdueWatcher()
        try channel.pipeline.syncOperations.addHandler(watcher)
        channel.embeddedEventLoop.advanceTime(by: .seconds(30))
        #expect(watcher.isOverdue && channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        channel.embeddedEventLoop.run()
        #expect(!channel.isActive && limiter.count == 0)
    }

    @Test func `a listener that fails to accept pauses, and then goes on`() throws {
        let channel = EmbeddedChannel()
        let reads = ReadCounter()
        let log = AcceptFailureLog(
            listener: "test", logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        try channel.pipeline.syncOperations.addHandlers([reads, log])
        channel.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 1), promise: nil)
        let before = reads.count
        channel.pipeline.fireErrorCaught(IOError(errnoCode: 24, reason: "accept"))
        for _ in 0..<1000 { channel.read() }
        #expect(reads.count == before)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(reads.count == before + 1)
        channel.read()
        #expect(reads.count == before + 2)
    }
}

/// Notes that its connection is overdue.
private final class OverdueWatcher: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private(set) var isOverdue = false

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is AdmissionHandler.Overdue { isOverdue = true }
    }
}

/// Counts the reads that come through to the socket.
private final class ReadCounter: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    private(set) var count = 0

    func read(context: ChannelHandlerContext) {
        count += 1
        context.read()
    }
}
