import ConnectionAdmission
import DeviceSession
import Logging
import MCSTransport
import MCSWire
import NIOCore
import NIOEmbedded
import PushModel
import ServerCore
import Testing

@testable import DeviceEndpoint

/// Counts the reads that reach the socket.
private final class ReadCounter: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    private(set) var count = 0

    func read(context: ChannelHandlerContext) {
        count += 1
        context.read()
    }
}

/// One connection without a socket.
private final class Connection {
    let gateway = FakeGateway()
    let channel = EmbeddedChannel()
    let reads = ReadCounter()
    private let device = DeviceID(4242)!

    init() throws {
        gateway.enrol(device, secret: 7)
        let metrics = DeviceEndpointMetrics()
        let surroundings = DeviceConnectionSurroundings(
            gateway: gateway, upstream: UpstreamRegistry(),
            refusals: UpstreamRefusalReport(logger: Logger(label: "test")), configuration: MCSServerConfiguration(),
            registry: DeviceConnectionRegistry(metrics: metrics),
            limiter: ConnectionLimiter(
                listener: "device", DeviceEndpointConfiguration(host: "127.0.0.1", port: 0).admission,
                logger: Logger(label: "test")), calls: DeviceCallQueues(), metrics: metrics,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let port = DeviceConnectionPort(calls: DeviceCallQueue(eventLoop: channel.eventLoop), gateway: gateway)
        let shell = DeviceConnectionShell(surroundings, port: port)
        port.attach(shell)
        try channel.pipeline.syncOperations.addHandlers([reads, MCSChannelHandler(peer: shell)])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    func logIn() throws {
        try receive([.login(MCSLoginRequest(device: device.rawValue, secret: 7))], version: 41)
    }

    func receive(_ packets: [MCSPacket], version: UInt8? = nil) throws {
        var bytes = version.map { [$0] } ?? []
        for packet in packets { try packet.encode(into: &bytes) }
        try channel.writeInbound(ByteBuffer(bytes: bytes))
        channel.embeddedEventLoop.run()
    }

    func setWritable(_ isWritable: Bool) {
        channel.isWritable = isWritable
        channel.pipeline.fireChannelWritabilityChanged()
        channel.embeddedEventLoop.run()
    }
}

@Suite struct DeviceConnectionShellTests {
    @Test func `a device that takes no answers is not read until it does`() throws {
        let connection = try Connection()
        try connection.logIn()
        let before = connection.reads.count
        connection.setWritable(false)
        connection.channel.read()
        connection.channel.read()
        #expect(connection.reads.count == before)
        connection.setWritable(true)
        #expect(connection.reads.count == before + 1)
    }

    @Test func `a body that is too large for a login is refused before the login, and taken after it`() throws {
        // The head of a login packet with a body of 512 KiB, of which nothing has come.
        let head: [UInt8] = [2, 0x80, 0x80, 0x20]
        let unknown = try Connection()
        try unknown.channel.writeInbound(ByteBuffer(bytes: [41] + head))
        unknown.channel.embeddedEventLoop.run()
        #expect(!unknown.channel.isActive)
        let known = try Connection()
        try known.logIn()
        try known.channel.writeInbound(ByteBuffer(bytes: head))
        known.channel.embeddedEventLoop.run()
        #expect(known.channel.isActive)
    }

    @Test func `one attempt that was written and not acknowledged is named when the connection ends`() throws {
        let connection = try Connection()
        try connection.logIn()
        connection.gateway.accept(
            [notification(1, stored: false), notification(2)], for: try #require(DeviceID(4242)))
        connection.channel.embeddedEventLoop.run()
        _ = try connection.channel.finish(acceptAlreadyClosed: true)
        let state = connection.gateway.state.value
        #expect(state.sent.map(\.rawValue) == [2, 1] || state.sent.map(\.rawValue) == [1, 2])
        #expect(state.unacknowledged.map(\.rawValue) == [1])
        #expect(state.closed.count == 1)
    }
}
