import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import PushServer

@Suite(.timeLimit(.minutes(2))) struct MultiLoopListenerTests {
    @Test func `few connections are of one loop, and the next takes what is beyond`() {
        var loops = AcceptingLoop(of: 3)
        for _ in 0..<AcceptingLoop.crowd {
            #expect(loops.current == 0)
            loops.opened(on: 0)
        }
        for _ in 0..<AcceptingLoop.crowd {
            #expect(loops.current == 1)
            loops.opened(on: 1)
        }
        #expect(loops.current == 2)
    }

    @Test func `a loop that many have left takes connections again`() {
        var loops = AcceptingLoop(of: 2)
        for _ in 0..<AcceptingLoop.crowd { loops.opened(on: loops.current) }
        for _ in 1..<AcceptingLoop.slack { loops.closed(on: 0) }
        #expect(loops.current == 1)
        loops.closed(on: 0)
        #expect(loops.current == 0)
    }

    @Test(arguments: [1, 2, 5])
    func `of many connections no loop has many more than another`(count: Int) {
        var random = SystemRandomNumberGenerator()
        var loops = AcceptingLoop(of: count)
        var open: [Int] = []
        var counts = [Int](repeating: 0, count: count)
        for _ in 0..<(count * 4000) {
            if !open.isEmpty, Int.random(in: 0..<4, using: &random) == 0 {
                let loop = open.swapRemove(at: Int.random(in: open.indices, using: &random))
                counts[loop] -= 1
                loops.closed(on: loop)
            } else {
                let before = loops.current
                let least = counts.min() ?? 0
                let mayTake = least >= AcceptingLoop.crowd && counts[before] < least + AcceptingLoop.slack
                #expect(counts[before] < AcceptingLoop.crowd || mayTake)
                open.append(before)
                counts[before] += 1
                loops.opened(on: before)
            }
        }
    }

    @Test func `a listener's first connections are of one event loop, and others get theirs when it has many`()
        async throws
    {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let (loops, accepted) = AsyncStream.makeStream(of: ObjectIdentifier.self)
        let listener = try await MultiLoopListener.listen(host: "127.0.0.1", port: 0, backlog: 16, on: group) {
            ServerBootstrap(group: $0).childChannelInitializer { channel in
                accepted.yield(ObjectIdentifier(channel.eventLoop))
                return channel.eventLoop.makeSucceededVoidFuture()
            }
        }
        let port = try #require(listener.port)
        var (connections, taken): ([any Channel], [ObjectIdentifier]) = ([], [])
        var all = loops.makeAsyncIterator()
        while taken.count < AcceptingLoop.crowd || Set(taken).count < 2 {
            connections.append(try await ClientBootstrap(group: group).connect(host: "127.0.0.1", port: port).get())
            taken.append(try #require(await all.next()))
            try #require(taken.count < 1000)
        }
        #expect(Set(taken.prefix(AcceptingLoop.crowd)).count == 1)
        for connection in connections { try await connection.close() }
        await listener.close()
        await #expect(throws: (any Error).self) {
            try await ClientBootstrap(group: group).connect(host: "127.0.0.1", port: port).get()
        }
        try await group.shutdownGracefully()
    }

    @Test func `an address in use is refused by the call that failed`() async throws {
        let group = NIOSingletons.posixEventLoopGroup
        let bootstrap: @Sendable (any EventLoop) -> ServerBootstrap = { ServerBootstrap(group: $0) }
        let first = try await MultiLoopListener.listen(
            host: "127.0.0.1", port: 0, backlog: 1, on: group, bootstrap: bootstrap)
        let port = try #require(first.port)
        do {
            _ = try await MultiLoopListener.listen(
                host: "127.0.0.1", port: port, backlog: 1, on: group, bootstrap: bootstrap)
            Issue.record("it listens twice")
        } catch { #expect("\(error)".contains("bind")) }
        await first.close()
    }
}

extension [Int] {
    fileprivate mutating func swapRemove(at index: Int) -> Int {
        swapAt(index, count - 1)
        return removeLast()
    }
}
