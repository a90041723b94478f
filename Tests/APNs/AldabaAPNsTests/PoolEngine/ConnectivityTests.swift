import Testing

@testable import AldabaAPNs

@Suite struct ConnectivityTests {
    private static let failed = ConnectionPool.Ending.failed(.unreachable, mayHaveBeenProcessed: false)

    @Test func `requests wait for the next attempt to connect`() {
        var table = PoolTable()
        _ = table.submit(1)
        let end = table.handle(.closed(connection: 1))
        #expect(end == [])
        let later = table.submit(2)
        #expect(later == [])
        let next = table.advance(.seconds(2))
        #expect(next == [.dial(connection: 2)])
    }

    @Test func `without waiting, requests fail with the attempt, and until the next one is due`() {
        var table = PoolTable { $0.waitsForConnectivity = false }
        _ = table.submit(1)
        _ = table.submit(2)
        let end = table.handle(.closed(connection: 1))
        #expect(end == [.finish(request: 1, Self.failed), .finish(request: 2, Self.failed)])
        let soon = table.submit(3)
        #expect(soon == [.finish(request: 3, Self.failed)])
        _ = table.advance(.seconds(2))
        let next = table.submit(4)
        #expect(next == [.dial(connection: 2)])
        let ready = table.handle(.settings(connection: 2, streamLimit: 10))
        #expect(ready == [.write(request: 4, connection: 2)])
    }

    @Test func `without waiting, requests outlive a connection that was ready`() {
        var table = PoolTable { $0.waitsForConnectivity = false }
        table.ready(requests: 2, limit: 2)
        let end = table.handle(.closed(connection: 1, unprocessed: [1, 2]))
        #expect(end == [])
        let next = table.advance(.seconds(2))
        #expect(next.contains(.dial(connection: 2)))
    }

    @Test func `without waiting, requests outlive an attempt beside a connection`() {
        var table = PoolTable { $0.waitsForConnectivity = false }
        table.ready(requests: 1, limit: 1)
        let second = table.submit(2)
        #expect(second == [.dial(connection: 2)])
        let end = table.handle(.closed(connection: 2))
        #expect(end == [])
        let answer = table.handle(.answered(request: 1, connection: 1, .proven))
        #expect(answer == [.finish(request: 1, .answered), .write(request: 2, connection: 1)])
    }

    @Test func `connections that answer and then leave are replaced at once, and use up no attempt`() {
        var table = PoolTable { $0.resends = 0 }
        table.ready(requests: 3, limit: 3)
        for connection in 1...2 {
            _ = table.handle(.answered(request: connection, connection: connection, .proven))
            _ = table.handle(.goAway(connection: connection))
            let refused = table.handle(.refused(request: 3, connection: connection))
            #expect(refused.contains(.dial(connection: connection + 1)))
            _ = table.handle(.refused(request: 2, connection: connection))
            _ = table.handle(.settings(connection: connection + 1, streamLimit: 3))
        }
        let last = table.handle(.answered(request: 3, connection: 3, .proven))
        #expect(last.contains(.finish(request: 3, .answered)))
    }

    @Test func `a request that a living connection refuses has used up an attempt`() {
        var table = PoolTable { $0.resends = 0 }
        table.ready(requests: 2, limit: 3)
        _ = table.handle(.answered(request: 1, connection: 1, .proven))
        let refused = table.handle(.refused(request: 2, connection: 1))
        #expect(refused == [.finish(request: 2, .failed(.refused, mayHaveBeenProcessed: false))])
    }

    @Test func `a pool that is stopped ends what is not in flight, and waits for the rest`() {
        var table = PoolTable { $0.connections = 1 }
        table.ready(requests: 3, limit: 1)
        let ended = ConnectionPool.Ending.failed(.shutDown, mayHaveBeenProcessed: false)
        let stop = table.handle(.stop)
        #expect(stop == [.finish(request: 2, ended), .finish(request: 3, ended)])
        let new = table.submit(4)
        #expect(new == [.finish(request: 4, ended)])
        let last = table.handle(.answered(request: 1, connection: 1, .proven))
        #expect(last == [.finish(request: 1, .answered), .close(connection: 1)])
    }
}
