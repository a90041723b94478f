import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import RelayAgent

@Suite struct DirectChannelTests {
    /// Counts what is asked of the socket.
    private final class ReadCounter: ChannelOutboundHandler {
        typealias OutboundIn = Never
        var reads = 0

        func read(context: ChannelHandlerContext) {
            reads += 1
            context.read()
        }
    }

    @Test("A connection reads by itself once it is there, and then when what it brought was taken")
    func reading() throws {
        let counter = ReadCounter()
        let told = Mutex<[[UInt8]]>([])
        let channel = EmbeddedChannel(
            handlers: [
                counter,
                DirectFrames { event in
                    if case .frames(let frames) = event { told.withLock { $0 += frames } }
                },
            ])
        #expect(counter.reads == 0)
        channel.connect(to: try SocketAddress(ipAddress: "10.0.0.7", port: 1), promise: nil)
        #expect(counter.reads == 1)
        try channel.writeInbound(ByteBuffer(bytes: [0, 0, 0, 2, 7]))
        #expect(counter.reads == 2, "what is not whole is read on")
        try channel.writeInbound(ByteBuffer(bytes: [8]))
        #expect(told.withLock { $0 } == [[7, 8]])
        #expect(counter.reads == 2, "a frame waits until it was taken")
        _ = try channel.finish()
    }
}
