import NIOCore
import NIOPosix
import Testing

@testable import ControlAPI

/// Listeners that end while connections wait to be served.
struct AcceptedConnectionTests {
    @Test(.timeLimit(.minutes(5)))
    func `connections that nobody serves when their listener ends are closed`() async throws {
        let server = FakeServer()
        for _ in 1...20 {
            var connections: [EventLoopFuture<any Channel>] = []
            try await withListener(.development(server.services(.open))) { listener in
                connections = (1...64).map { _ in
                    ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                        .connect(host: "127.0.0.1", port: listener.port)
                }
                _ = try await connections[0].get()
            }
            for connection in connections {
                // Some come too late to be accepted.
                guard let channel = try? await connection.get() else { continue }
                // Where the listener ended in the middle of the TCP handshake the system holds this end open, without the other,
                // until something is sent.
                channel.writeAndFlush(ByteBuffer(bytes: [0x47]), promise: nil)
                // No time limit ends what waits for a future.
                let isForgotten = channel.eventLoop.scheduleTask(in: .seconds(30)) {
                    channel.close(promise: nil)
                    return true
                }
                try await channel.closeFuture.get()
                isForgotten.cancel()
                #expect(await (try? isForgotten.futureResult.get()) == nil, "the server has forgotten a connection")
            }
        }
    }
}
