import AldabaTestSupport
import HubProtocol
import PostgresTestSupport
import PushCore
import PushServer
import Synchronization
import Testing

@testable import HubServer

/// Two servers with one database.
@Suite(
    .enabled(if: !PostgresVersion.installed.isEmpty, "no server of PostgreSQL is installed"), PostgresServer.Shared())
struct SharedHubTests {
    /// A server, and a second one with its database, clock and push service.
    private func servers() async throws -> (HubWorld, HubWorld) {
        let first = try await HubWorld(shared: try PostgresServer.database())
        return (first, try await HubWorld(after: first))
    }

    private func numbers(_ expression: String?, _ world: HubWorld) async throws -> [UInt32] {
        let hub = try #require(try await world.database.hub(named: "todo"))
        let found = try await world.hubs.audience(expression, of: hub, for: nil, readsFields: true)
        return Array(found.numbers(from: 0, limit: 10_000))
    }

    @Test func `what one server was answered for, the next question at the other one finds`() async throws {
        let (first, second) = try await servers()
        let one = try await first.put("one", #","tags":["a"]"#).number
        #expect(try await numbers("a", second) == [one])
        let two = try await second.put("two", #","tags":["a","b"]"#).number
        #expect(try await numbers("a", first) == [one, two])
        #expect(try await numbers("b", first) == [two])
        try await first.put("one", #","tags":["b"]"#)
        #expect(try await numbers("a && !b", second) == [])
        #expect(try await numbers("b", second) == [one, two])
        #expect(try await second.hubs.delete("one", of: second.hub))
        #expect(try await numbers("b", first) == [two])
        // The channel moves to another installation.
        try await first.put("three", #","tags":["c"]"#, channel: "token of two")
        #expect(try await numbers("b", second) == [])
    }

    @Test func `the audiences of two servers are that of a third which reads all installations`() async throws {
        let (first, second) = try await servers()
        var random = SeededGenerator(seed: 7)
        for step in 0..<300 {
            let world = random.next() % 2 == 0 ? first : second
            let id = "i\(random.next() % 20)"
            switch random.next() % 10 {
            case 0: try await world.hubs.delete(id, of: world.hub)
            case 1:
                first.clock.advance(milliseconds: 61_000)
                try await world.hubs.markSeen(["token of \(id)"], at: first.clock.now)
            default:
                try await world.put(id, #","tags":["t\#(random.next() % 5)"]"#, platform: "aldaba")
            }
            guard step % 10 == 0 else { continue }
            let third = try await HubWorld(after: first)
            for expression in ["t0", "t1 || t2", "!t3", "$LastSeen:{<2m}"] {
                let right = try await numbers(expression, third)
                #expect(try await numbers(expression, first) == right, "\(expression) at step \(step)")
                #expect(try await numbers(expression, second) == right, "\(expression) at step \(step)")
            }
        }
    }

    @Test func `a server that is further behind than the log goes back reads all installations`() async throws {
        let (first, second) = try await servers()
        try await first.put("one", #","tags":["a"],"userId":"anna""#)
        #expect(try await numbers("a", second).count == 1)
        try await first.put("two", #","tags":["a"]"#)
        // An erasure leaves nothing of the person in the log.
        #expect(try await first.erase("anna").installations == ["one"])
        #expect(try await first.database.audienceCommits(of: first.hub.number, after: 0, limit: 99).count <= 1)
        #expect(try await numbers("a", second) == [2])
    }

    @Test func `two servers send a campaign, and each installation gets it once`() async throws {
        let (first, second) = try await servers()
        for number in 0..<2000 { try await first.put("i\(number)", #","tags":["a"]"#) }
        let record = try await second.campaign("{}", audience: "a")
        async let one = first.runner.runAll()
        async let two = second.runner.runAll()
        _ = try await (one, two)
        // A server that found the other one at work has left it that work.
        while try await first.now(record).state != .completed { _ = try await first.runner.runAll() }
        #expect(first.sender.channels.count == 2000)
        #expect(Set(first.sender.channels).count == 2000)
        let counts = try await first.database.outcomes(of: record.number)
        #expect(counts.reduce(0) { $0 + $1.count } == 2000)
    }

    @Test func `a send that a server is at waits until that one has done its step, or has ended`() async throws {
        let (first, second) = try await servers()
        try await first.put("one")
        let record = try await first.send(nil)
        #expect(try await first.database.claim(SQLClaim(.send, record.number)))
        _ = try await second.runner.runAll()
        #expect(try await second.now(record).state == .enqueued)
        // Its connections end with a process.
        try first.database.database.close()
        while try await second.now(record).state != .completed {
            second.clock.advance(milliseconds: 200)
            _ = try await second.runner.runAll()
        }
        #expect(first.sender.channels == ["token of one"])
    }

    @Test func `a slice that another server has recorded is not recorded again`() async throws {
        let (first, second) = try await servers()
        for number in 0..<3 { try await first.put("i\(number)") }
        let record = try await first.send(nil)
        let progress = SendProgress(
            cursor: 0, step: 0, isEnd: false, counts: [.init(platform: .apns, outcome: .success, count: 2)], faults: [],
            deadChannels: [], at: first.clock.now)
        try await first.database.advance(record.number, hub: first.hub.number, progress) { _ in }
        await #expect(throws: ClaimedElsewhereError.self) {
            try await second.database.advance(record.number, hub: second.hub.number, progress) { _ in }
        }
        #expect(try await second.database.outcomes(of: record.number).map(\.count) == [2])
    }

    @Test func `one idempotency key begins one send, at whichever server`() async throws {
        let (first, second) = try await servers()
        try await first.put("one")
        let records = try await withThrowingTaskGroup(of: SendRecord.self) { group in
            for number in 0..<20 {
                group.addTask { try await (number % 2 == 0 ? first : second).send(nil, key: "same") }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(records.map(\.number)).count == 1)
    }

    @Test func `concurrent puts of two servers are counted, and both have all of them`() async throws {
        let (first, second) = try await servers()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    try await (number % 2 == 0 ? first : second).put("i\(number % 50)", #","tags":["t"]"#)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await numbers("t", first).count == 50)
        #expect(try await numbers("t", second) == (try await numbers("t", first)))
        #expect(try await first.database.size(of: first.hub.number).installations == 50)
    }
}
