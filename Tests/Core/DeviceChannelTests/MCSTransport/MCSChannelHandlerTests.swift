import DeviceChannel
import NIOCore
import NIOEmbedded
import Testing

/// Notes what a handler tells its peer, and answers pings twice.
private final class NotingPeer: MCSChannelDelegate {
    var maximumSize: Int { MCSFrame.defaultMaximumSize }
    var wantsRead = true
    var deadline: Int64?
    var channel: MCSChannelHandler<NotingPeer>?
    var versions: [UInt8] = []
    var tags: [MCSTag] = []
    var readsCompleted = 0
    var errors: [MCSFrameError] = []
    var closedCount = 0

    func opened(_ channel: MCSChannelHandler<NotingPeer>) { self.channel = channel }
    func received(version: UInt8) { versions.append(version) }
    func received(_ packet: MCSPacket) {
        tags.append(packet.tag)
        if packet.tag == .heartbeatPing {
            channel?.send(.heartbeatAck(MCSHeartbeatAck()))
            channel?.send(.close)
        }
    }
    func readCompleted() { readsCompleted += 1 }
    func writabilityChanged(_ isWritable: Bool) {}
    func tick() {}
    func malformed(_ error: MCSFrameError) { errors.append(error) }
    func closed(_ error: (any Error)?) {
        channel = nil
        closedCount += 1
    }
}

@Suite struct MCSChannelHandlerTests {
    private func opened() throws -> (NotingPeer, EmbeddedChannel) {
        let peer = NotingPeer()
        let channel = EmbeddedChannel(handler: MCSChannelHandler(peer: peer))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return (peer, channel)
    }

    @Test func `everything that one read causes leaves in one write`() throws {
        let (peer, channel) = try opened()
        try channel.writeInbound(ByteBuffer(bytes: [41, 0, 0, 0, 0, 1, 0]))
        #expect(peer.versions == [41] && peer.tags == [.heartbeatPing, .heartbeatPing, .heartbeatAck])
        #expect(peer.readsCompleted == 1)
        #expect(try channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(bytes: [1, 0, 4, 0, 1, 0, 4, 0]))
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
        _ = try channel.finish()
    }

    @Test func `bytes that are no packets close the connection and are reported once`() throws {
        let (peer, channel) = try opened()
        try channel.writeInbound(ByteBuffer(bytes: [41, 99, 0]))
        channel.embeddedEventLoop.run()
        #expect(peer.errors == [.unknownTag(99)] && peer.closedCount == 1 && !channel.isActive)
    }

    @Test func `nothing is read while the peer does not want it, until it settles`() throws {
        let peer = NotingPeer()
        let reads = ReadCounter()
        let channel = EmbeddedChannel(handlers: [reads, MCSChannelHandler(peer: peer)])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let before = reads.count
        peer.wantsRead = false
        channel.read()
        #expect(reads.count == before)
        peer.wantsRead = true
        peer.channel?.settle()
        #expect(reads.count == before + 1)
        _ = try channel.finish()
    }

    @Test func `a packet that is too large for any reader closes the connection instead of being sent`() throws {
        let (peer, channel) = try opened()
        var stanza = MCSDataMessageStanza()
        stanza.category = String(repeating: "x", count: MCSFrame.defaultMaximumSize)
        peer.channel?.send(.dataMessage(stanza))
        channel.embeddedEventLoop.run()
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
        #expect(peer.closedCount == 1)
    }

    private final class ReadCounter: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        var count = 0
        func read(context: ChannelHandlerContext) {
            count += 1
            context.read()
        }
    }
}
