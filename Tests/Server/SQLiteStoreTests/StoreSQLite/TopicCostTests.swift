import AldabaTestSupport
import GRDB
import PushCore
import PushServer
import StatementLog
import Testing

@testable import SQLiteStore

/// What a send to a topic, a subscription and a device's turn cost does not depend on how many are subscribed, nor on how
/// many broadcasts for others there are.
@Suite struct TopicCostTests {
    private static let now = Timestamp(seconds: 1_780_272_000)
    private static let team = TeamID(rawValue: "TEAM123456")

    private static func draft(_ id: Int64, _ condition: String) throws -> BroadcastDraft {
        BroadcastDraft(
            id: NotificationID(rawValue: id), team: team, to: .topics(try TopicCondition(parsing: condition)),
            written: condition, content: .fcm([0x7B, 0x7D]), acceptedAt: now,
            expiresAt: now.adding(milliseconds: 1_000_000))
    }

    private func costs(subscribers: Int) async throws -> (steps: [String: Int], plans: [String: [String]]) {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(path: folder.path("server.sqlite"))
        let app = try await store.register.addApp(
            topic: Topic(rawValue: "com.example.todo"), team: Self.team, policy: MailboxPolicy(), at: Self.now)
        let devices = (1...subscribers + 1).compactMap { DeviceID(UInt64($0)) }
        try await store.pool.write { database in
            for device in devices {
                try database.execute(
                    sql: """
                        INSERT INTO device(id, secret_hash, enrolled_at) VALUES(?, X'01', 0);
                        INSERT INTO registration(device, app, environment, generation, registered_at)
                        VALUES(?, ?, 0, 0, 0)
                        """, arguments: [device.column, device.column, app.id.column])
            }
        }
        func members(_ devices: some Sequence<DeviceID>) -> [TopicMember] {
            devices.map {
                TopicMember(
                    subject: TokenSubject(cell: 0, device: $0, app: app.id, environment: .sandbox, generation: 0),
                    team: Self.team)
            }
        }
        let (news, sports) = (try TopicName("news"), try TopicName("sports"))
        let mine = try #require(devices.last)
        for topic in [news, sports] {
            _ = try await store.subscribe(members(devices.dropLast()), to: topic, limit: 10, at: Self.now)
        }
        for number in 1...Int64(subscribers) {
            _ = try await store.insertBroadcast(try Self.draft(number, "'sports' in topics"))
            if let device = devices.first { try store.apply([.moveCursor(device, to: number)]) }
        }
        let log = StatementLog()
        try await store.pool.writeWithoutTransaction { log.follow($0) }
        #expect(
            try await store.subscribe(members([mine]), to: news, limit: 10, at: Self.now) == [.subscribed])
        _ = try await store.insertBroadcast(
            try Self.draft(100_000, "'news' in topics && !('sports' in topics) || 'new' in topics"))
        _ = try await store.insertBroadcast(try Self.draft(100_001, "!('news' in topics)"))
        var request = PrefetchRequest(acceptedSince: Self.now)
        request.audiences = [mine]
        let found = try store.prefetch(request)
        let audience = try #require(found.audiences[mine])
        #expect(audience.broadcasts.map(\.rawValue) == [100_000, 100_001])
        request.known[mine] = audience
        request.known[mine]?.cursor = try #require(audience.memberships.first).joined
        #expect(try store.prefetch(request).audiences[mine]?.broadcasts == audience.broadcasts)
        try store.apply([.moveCursor(mine, to: audience.cursor + 1)])
        #expect(try await store.unsubscribe(members([mine]), from: news) == [true])
        #expect(try await store.withdrawBroadcast(NotificationID(rawValue: 100_000), at: Self.now))
        let plans = try log.costs.keys.reduce(into: [String: [String]]()) { plans, statement in
            plans[statement] = try store.pool.read { try StatementLog.plan(of: statement, in: $0) }
        }
        let steps = log.costs
        try store.close()
        return (steps, plans)
    }

    @Test func `who is known has a turn without a statement about their subscriptions or their registrations`()
        async throws
    {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(path: folder.path("server.sqlite"))
        let app = try await store.register.addApp(
            topic: Topic(rawValue: "com.example.todo"), team: Self.team, policy: MailboxPolicy(), at: Self.now)
        let news = try TopicName("news")
        let devices = (1...100).compactMap { DeviceID(UInt64($0)) }
        for device in devices {
            #expect(try await store.register.addDevice(device, secretHash: [1], at: Self.now))
            _ = try await store.register.register(device: device, app: app.id, environment: .sandbox, at: Self.now)
        }
        let members = devices.map {
            TopicMember(
                subject: TokenSubject(cell: 0, device: $0, app: app.id, environment: .sandbox, generation: 0),
                team: Self.team)
        }
        _ = try await store.subscribe(members, to: news, limit: 10, at: Self.now)
        _ = try await store.insertBroadcast(try Self.draft(1000, "'news' in topics"))
        var request = PrefetchRequest(acceptedSince: Self.now)
        request.audiences = Set(devices)
        request.known = try store.prefetch(request).audiences
        let log = StatementLog()
        try await store.pool.writeWithoutTransaction { log.follow($0) }
        let found = try store.prefetch(request)
        #expect(found.audiences == request.known && found.broadcasts.count == 1)
        let statements = log.costs.keys
        #expect(statements.contains { $0.contains("FROM broadcast_topic") })
        for table in ["subscription", "registration", "fanout_cursor"] {
            #expect(!statements.contains { $0.contains("FROM \(table)") }, "\(table) was read")
        }
        try store.close()
    }

    @Test func `no statement takes longer because more are subscribed`() async throws {
        let few = try await costs(subscribers: 5)
        let many = try await costs(subscribers: 500)
        #expect(Set(few.steps.keys) == Set(many.steps.keys))
        let parts = [
            "INTO subscription", "INTO broadcast(", "INTO broadcast_topic", "FROM broadcast_topic WHERE topic",
        ]
        for part in parts {
            #expect(many.steps.keys.contains { $0.contains(part) }, "\(part) did not run")
        }
        for (statement, steps) in many.steps {
            #expect(steps <= (few.steps[statement] ?? 0) + 20, "\(statement)")
            for line in many.plans[statement] ?? [] where line.contains("SCAN ") {
                // What a subquery or a constant row gives; no table is read from its beginning.
                #expect(
                    ["SCAN (subquery", "SCAN CONSTANT ROW", "SCAN broadcast USING COVERING INDEX broadcast_leaving"]
                        .contains { line.contains($0) }, "\(line) of \(statement)")
            }
        }
    }
}
