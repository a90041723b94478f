import NIOCore
import NIOPosix
import Testing

@testable import DirectRelay

@Suite struct DirectChannelTests {
    @Test("A connection's first frame is read, also where a read is asked for before the channel is registered")
    func firstFrame() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let (events, heard) = AsyncStream.makeStream(of: DirectChannelEvent.self)
        let listener = try await DirectChannel.listen(group: group) { channel in
            channel.resume()
            return { heard.yield($0) }
        }
        let port = try #require(listener.localAddress?.port.flatMap(UInt16.init(exactly:)))
        let channel = try await DirectChannel.connect(to: "127.0.0.1", port: port, interface: 0, group: group) { _ in }
            .get()
        channel.send([1, 2, 3])
        var iterator = events.makeAsyncIterator()
        guard case .frames(let frames)? = await iterator.next() else {
            Issue.record("the connection ended")
            return
        }
        #expect(frames == [[1, 2, 3]])
        channel.close()
        guard case .closed? = await iterator.next() else {
            Issue.record("the connection goes on")
            return
        }
        try await listener.close()
    }
}
