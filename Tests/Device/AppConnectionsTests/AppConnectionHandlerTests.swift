import AgentWire
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import AppConnections

/// When the agent is told what an app said.
@Suite struct AppConnectionHandlerTests {
    private final class Agent: AppSocketDelegate {
        let told = Mutex<[String]>([])

        func received(_ messages: [AppMessage], from connection: AppConnection) {
            told.withLock { $0.append("received \(messages.count)") }
        }
        func closed(_ connection: AppConnection) { told.withLock { $0.append("closed") } }
    }

    /// Reads what has come within a write, as NIO does where a write fails.
    private final class ReadingWrite: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        let bytes: [UInt8]
        let closes: Bool

        init(bytes: [UInt8], closes: Bool) {
            self.bytes = bytes
            self.closes = closes
        }

        func flush(context: ChannelHandlerContext) {
            context.fireChannelRead(NIOAny(ByteBuffer(bytes: bytes)))
            context.fireChannelReadComplete()
            if closes { context.close(promise: nil) }
        }
    }

    @Test(
        "What comes within a write of the agent's own is told after it, and before the end", arguments: [true, false])
    func readWithinWrite(closes: Bool) throws {
        let agent = Agent()
        let channel = EmbeddedChannel()
        let connection = AppConnection(peer: Peer(process: 1, user: 1), channel: channel)
        let bytes = try AppMessage.ready.frame()
        try channel.pipeline.syncOperations.addHandlers([
            ReadingWrite(bytes: bytes, closes: closes),
            AppConnectionHandler(connection: connection, delegate: agent, spoke: {}),
        ])
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/nowhere")).wait()
        channel.writeAndFlush([AgentMessage](), promise: nil)
        #expect(agent.told.withLock { $0 } == [])
        channel.embeddedEventLoop.run()
        #expect(agent.told.withLock { $0 } == (closes ? ["received 1", "closed"] : ["received 1"]))
    }
}
