import AldabaTestSupport
import Testing

@testable import AldabaAPNs

@Suite struct ConnectionPoolTests {
    @Test func `the first request makes a connection and is written once it is ready`() {
        var table = PoolTable()
        #expect(table.submit(1) == [.dial(connection: 1)])
        #expect(table.submit(2) == [])
        #expect(
            table.handle(.settings(connection: 1, streamLimit: 100)) == [
                .write(request: 1, connection: 1), .write(request: 2, connection: 1),
            ])
        #expect(table.handle(.answered(request: 2, connection: 1, .proven)) == [.finish(request: 2, .answered)])
    }

    @Test func `no more requests are in flight than the latest SETTINGS allow`() {
        var table = PoolTable { $0.connections = 1 }
        table.ready(requests: 3, limit: 2)
        #expect(table.pool.inFlight == 2)
        #expect(table.handle(.settings(connection: 1, streamLimit: 1)) == [])
        #expect(table.handle(.answered(request: 1, connection: 1, .plain)) == [.finish(request: 1, .answered)])
        #expect(
            table.handle(.answered(request: 2, connection: 1, .proven)) == [
                .finish(request: 2, .answered), .write(request: 3, connection: 1),
            ])
        #expect(table.submit(4) == [])
        #expect(table.handle(.settings(connection: 1, streamLimit: 1000)) == [.write(request: 4, connection: 1)])
    }

    @Test(arguments: [(ConnectionPool.Answer.proven, 2), (.plain, 1)])
    func `one stream is used until the token was accepted`(answer: ConnectionPool.Answer, written: Int) {
        var table = PoolTable {
            $0.startsWithOneStream = true
            $0.connections = 1
        }
        table.ready(requests: 3, limit: 1000)
        #expect(table.pool.inFlight == 1)
        _ = table.handle(.answered(request: 1, connection: 1, answer))
        #expect(table.pool.inFlight == written)
    }

    @Test func `the connection with the fewest requests takes the next one`() {
        var table = PoolTable()
        table.ready(requests: 2, limit: 1)
        #expect(table.pool.connections.count == 2)
        _ = table.handle(.settings(connection: 2, streamLimit: 10))
        _ = table.handle(.settings(connection: 1, streamLimit: 10))
        _ = table.handle(.answered(request: 1, connection: 1, .proven))
        #expect(table.submit(3) == [.write(request: 3, connection: 1)])
        _ = table.handle(.answered(request: 3, connection: 1, .proven))
        _ = table.handle(.answered(request: 2, connection: 2, .proven))
        // Equally loaded connections take turns.
        #expect(table.submit(4) == [.write(request: 4, connection: 2)])
    }

    @Test func `a connection that is made holds back others`() {
        var table = PoolTable()
        for request in 1...10 { _ = table.submit(request) }
        #expect(table.pool.connections.count == 1)
    }

    @Test func `a first request without an answer does not hold back the others`() {
        var table = PoolTable { $0.startsWithOneStream = true }
        table.ready(requests: 3)
        #expect(table.advance(.milliseconds(2999)) == [])
        #expect(table.advance(.milliseconds(1)) == [.dial(connection: 2)])
        #expect(table.handle(.settings(connection: 2, streamLimit: 100)) == [.write(request: 2, connection: 2)])
        #expect(
            table.handle(.answered(request: 2, connection: 2, .proven)) == [
                .finish(request: 2, .answered), .write(request: 3, connection: 2),
            ])
    }

    @Test func `a connection that takes long to be made does not hold back another one`() {
        var table = PoolTable()
        _ = table.submit(1)
        #expect(table.advance(.seconds(3)) == [.dial(connection: 2)])
        #expect(table.handle(.settings(connection: 2, streamLimit: 100)) == [.write(request: 1, connection: 2)])
    }

    @Test func `after GOAWAY refused requests go to another connection and earlier ones may finish`() {
        var table = PoolTable()
        table.ready(requests: 2)
        #expect(table.handle(.goAway(connection: 1)) == [])
        #expect(table.handle(.goAway(connection: 1)) == [])
        #expect(table.handle(.refused(request: 2, connection: 1)) == [])
        #expect(table.advance(.milliseconds(500)) == [.dial(connection: 2)])
        #expect(table.handle(.settings(connection: 2, streamLimit: 10)) == [.write(request: 2, connection: 2)])
        #expect(
            table.handle(.answered(request: 1, connection: 1, .proven)) == [
                .finish(request: 1, .answered), .close(connection: 1),
            ])
        #expect(table.handle(.answered(request: 2, connection: 2, .proven)) == [.finish(request: 2, .answered)])
    }

    @Test func `what is sent again comes before what was never sent`() {
        var table = PoolTable { $0.connections = 1 }
        table.ready(requests: 4, limit: 2)
        _ = table.handle(.settings(connection: 1, streamLimit: 1))
        _ = table.handle(.refused(request: 2, connection: 1))
        #expect(
            table.handle(.answered(request: 1, connection: 1, .proven)) == [
                .finish(request: 1, .answered), .write(request: 2, connection: 1),
            ])
    }

    @Test(arguments: [
        (false, [ConnectionPool.Directive.finish(request: 1, .failed(.connectionLost, mayHaveBeenProcessed: true))]),
        (true, []),
    ])
    func `a request without an answer is sent again by policy alone`(
        policy: Bool, directives: [ConnectionPool.Directive]
    ) {
        var table = PoolTable { $0.resendsUnanswered = policy }
        table.ready()
        #expect(table.handle(.closed(connection: 1)) == directives)
        #expect(table.pool.queued == (policy ? 1 : 0))
    }

    @Test func `what was never written to a connection that has ended is sent again`() {
        var table = PoolTable()
        table.ready(requests: 2)
        #expect(
            table.handle(.closed(connection: 1, unprocessed: [2])) == [
                .finish(request: 1, .failed(.connectionLost, mayHaveBeenProcessed: true))
            ])
        #expect(table.pool.queued == 1)
    }

    @Test func `a request that may have been processed stays so when it is refused later`() {
        var table = PoolTable {
            $0.resendsUnanswered = true
            $0.resends = 1
        }
        table.ready()
        #expect(table.handle(.lost(request: 1, connection: 1)) == [.write(request: 1, connection: 1)])
        #expect(
            table.handle(.refused(request: 1, connection: 1)) == [
                .finish(request: 1, .failed(.refused, mayHaveBeenProcessed: true))
            ])
    }

    @Test func `the deadline counts in the queue and in flight`() {
        var table = PoolTable {
            $0.connections = 1
            $0.silenceTime = .seconds(60)
        }
        table.ready(requests: 2, limit: 1)
        #expect(
            table.advance(.seconds(30)).filter { if case .finish = $0 { true } else { false } } == [
                .finish(request: 1, .failed(.deadline, mayHaveBeenProcessed: true)),
                .finish(request: 2, .failed(.deadline, mayHaveBeenProcessed: false)),
            ])
    }

    @Test func `a silent connection is checked by PING and given up`() {
        var table = PoolTable()
        table.ready()
        #expect(table.advance(.seconds(14)) == [])
        #expect(table.advance(.seconds(1)) == [.ping(connection: 1)])
        #expect(table.handle(.pingAcknowledged(connection: 1)) == [])
        #expect(table.advance(.seconds(14)) == [])
        var other = PoolTable()
        other.ready()
        #expect(
            other.advance(.seconds(25)) == [
                .ping(connection: 1), .close(connection: 1),
                .finish(request: 1, .failed(.connectionLost, mayHaveBeenProcessed: true)),
            ])
        #expect(other.handle(.closed(connection: 1)) == [])
    }

    @Test func `an idle connection is checked by PING`() {
        var table = PoolTable()
        table.ready()
        _ = table.handle(.answered(request: 1, connection: 1, .proven))
        #expect(table.advance(.seconds(299)) == [])
        #expect(table.advance(.seconds(1)) == [.ping(connection: 1)])
        #expect(table.advance(.seconds(10)) == [.close(connection: 1)])
    }

    @Test func `a connection that never becomes ready is given up`() {
        var table = PoolTable { $0.connections = 1 }
        _ = table.submit(1)
        #expect(table.advance(.seconds(20)).prefix(1) == [.close(connection: 1)])
        #expect(table.advance(.seconds(1)) == [.dial(connection: 2)])
    }

    @Test func `attempts to connect are further and further apart`() {
        var table = PoolTable()
        _ = table.submit(1, within: .seconds(3600))
        var times: [Duration] = []
        for number in 1...9 {
            _ = table.handle(.closed(connection: number))
            let before = table.elapsed
            while table.pool.connections.isEmpty { _ = table.advance(.milliseconds(10)) }
            times.append(table.elapsed - before)
        }
        for (time, limit) in zip(times, [0.5, 1, 2, 4, 8, 16, 32, 60, 60]) {
            #expect(time <= .seconds(limit) + .milliseconds(10))
        }
        #expect(times.reduce(.zero, +) > .seconds(10))
    }

    @Test func `an old connection finishes its requests and is replaced`() {
        var table = PoolTable { $0.age = .seconds(100) }
        table.ready()
        _ = table.handle(.answered(request: 1, connection: 1, .proven))
        _ = table.advance(.seconds(85))
        #expect(table.submit(2, within: .seconds(600)) == [.write(request: 2, connection: 1)])
        while table.pool.connections[1]?.isRetired == false {
            _ = table.advance(.seconds(1))
            _ = table.handle(.pingAcknowledged(connection: 1))
        }
        #expect((.seconds(90)...(.seconds(111))).contains(table.elapsed))
        #expect(table.submit(3) == [.dial(connection: 2)])
        #expect(
            table.handle(.answered(request: 2, connection: 1, .proven)) == [
                .finish(request: 2, .answered), .close(connection: 1),
            ])
    }

    @Test func `an expired token ends every connection that has seen it`() {
        var table = PoolTable()
        table.ready(requests: 2, limit: 1)
        _ = table.handle(.settings(connection: 2, streamLimit: 1))
        #expect(table.pool.inFlight == 2)
        let directives = table.handle(.answered(request: 1, connection: 1, .tokenExpired))
        #expect(directives == [.renewToken(request: 1), .close(connection: 1)])
        #expect(table.pool.connections[2]?.isRetired == true && table.pool.queued == 1)
        // The answer to the other request on the old connections is to the same token.
        let later = table.handle(.answered(request: 2, connection: 2, .tokenExpired))
        #expect(later == [.renewToken(request: 2), .close(connection: 2)])
        _ = table.advance(.seconds(2))
        _ = table.handle(.settings(connection: 3, streamLimit: 1))
        #expect(
            table.handle(.answered(request: 1, connection: 3, .tokenExpired)).contains(.finish(request: 1, .answered)))
    }

    @Test func `a connection that leaves three requests in a row without an answer is replaced`() {
        var table = PoolTable()
        table.ready(requests: 1)
        _ = table.handle(.answered(request: 1, connection: 1, .proven))
        for request in 2...4 {
            #expect(table.pool.connections[1]?.isRetired == false)
            _ = table.submit(request, within: .seconds(1))
            _ = table.advance(.seconds(1))
        }
        #expect(table.pool.connections[1] == nil)
    }

    @Test func `a cancelled request leaves the queue, or its stream is reset`() {
        var table = PoolTable { $0.connections = 1 }
        table.ready(requests: 2, limit: 1)
        #expect(
            table.handle(.cancel(request: 2)) == [.finish(request: 2, .failed(.cancelled, mayHaveBeenProcessed: false))]
        )
        #expect(
            table.handle(.cancel(request: 1)) == [
                .abandon(request: 1, connection: 1),
                .finish(request: 1, .failed(.cancelled, mayHaveBeenProcessed: true)),
            ])
        #expect(table.handle(.answered(request: 1, connection: 1, .proven)) == [])
    }

    @Test func `a shut down pool finishes what is open and closes`() {
        var table = PoolTable()
        table.ready()
        #expect(table.handle(.shutDown) == [])
        #expect(table.submit(2) == [.finish(request: 2, .failed(.shutDown, mayHaveBeenProcessed: false))])
        #expect(
            table.handle(.answered(request: 1, connection: 1, .proven)) == [
                .finish(request: 1, .answered), .close(connection: 1),
            ])
        #expect(table.advance(.seconds(3600)) == [])
    }

    @Test func `a busy connection gets another one beside it`() {
        var table = PoolTable { $0.connections = 2 }
        for request in 1...256 { _ = table.submit(request) }
        let directives = table.handle(.settings(connection: 1, streamLimit: 1000))
        #expect(directives.last == .dial(connection: 2))
    }
}
