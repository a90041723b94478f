import APNsProtocol
import AldabaTestSupport
import Foundation
import GRDB
import Logging
import NIOPosix
import PowerCut
import PushCore
import Synchronization
import Testing

@testable import PushServer
@testable import SQLiteStore

/// The power fails at any moment: what was accepted is there, and nothing is there twice.
@Suite struct PowerCutTests {
    @Test func `every accepted notification is there after a power cut, once, or has its end`() async throws {
        let folder = try TemporaryFolder()
        let recording = DiskRecording(folder: folder.url.path)
        let ledger = try await Workload.run(path: folder.path("server.sqlite"), position: { recording.count })
        let changes = recording.end()
        #expect(ledger.accepted.count == Workload.accepted && !ledger.ended.isEmpty)
        var looked = 0
        try await PowerCuts.each(of: changes, from: ledger.start, seed: 14) { left, made in
            looked += 1
            let store = try SQLiteStore(path: left.path("server.sqlite"))
            let damage = try await store.pool.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
            #expect(damage == ["ok"], "after \(made) changes")
            try await ledger.check(store, after: made)
            try store.close()
        }
        #expect(looked > changes.count - ledger.start)
    }

    @Test func `a store that does not sync is found out`() async throws {
        let folder = try TemporaryFolder()
        let recording = DiskRecording(folder: folder.url.path)
        let path = folder.path("plain.sqlite")
        let queue = try DatabaseQueue(path: path)
        try await queue.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = OFF; CREATE TABLE item(id INTEGER PRIMARY KEY)")
        }
        var committed: [(position: Int, id: Int)] = []
        for id in 1...20 {
            try await queue.write { try $0.execute(sql: "INSERT INTO item VALUES(?)", arguments: [id]) }
            committed.append((recording.count, id))
        }
        try queue.close()
        var lost = 0
        try await PowerCuts.each(of: recording.end(), seed: 1) { left, made in
            let there = try? await DatabaseQueue(path: left.path("plain.sqlite"))
                .read { try Set(Int.fetchAll($0, sql: "SELECT id FROM item")) }
            lost += committed.count { $0.position <= made && there?.contains($0.id) != true }
        }
        #expect(lost > 0)
    }
}

/// What was told to whom, and how much had been written by then.
private struct Ledger {
    /// The position at which the database was ready.
    var start = 0
    /// The accepted ids, with the position at which the sink was told.
    var accepted: [(id: NotificationID, position: Int)] = []
    /// From when on a notification may have an end: its end was asked for, or something that may replace it was.
    var mayEnd: [NotificationID: Int] = [:]
    /// From when on it must have one: somebody was told.
    var ended: [NotificationID: Int] = [:]

    func check(_ store: SQLiteStore, after made: Int) async throws {
        let told = accepted.filter { $0.position <= made }
        let ends = Set(["acked", "expired", "withdrawn", "replaced", "dropped(overflow)"])
        let rows: [Row] = try store.pool.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT message.id, message.apns_id,
                        (SELECT count(*) FROM pending WHERE pending.message = message.id) AS waits,
                        (SELECT group_concat(state) FROM timeline WHERE timeline.id = message.id) AS states
                    FROM message
                    """)
        }
        #expect(Set(rows.map { $0["apns_id"] as String? }).count == rows.count, "an apns-id has two notifications")
        var found: [NotificationID: Row] = [:]
        for row in rows { found[NotificationID(rawValue: row["id"])] = row }
        for (id, _) in told {
            let row = try #require(found[id], "\(id) was accepted and is lost after \(made) changes")
            let states = (row["states"] as String?)?.split(separator: ",").map(String.init) ?? []
            let waits: Int = row["waits"]
            let end = states.filter(ends.contains)
            #expect(waits + end.count == 1, "\(id) waits \(waits) times, and ended as \(end), after \(made) changes")
            if waits == 0 { #expect(mayEnd[id, default: .max] <= made, "\(id) ended by itself") }
            if let position = ended[id], position <= made { #expect(waits == 0, "the end of \(id) was told") }
        }
        // No id is given a second time.
        if let last = told.map(\.id).max() { #expect(try store.highWater() >= last.rawValue) }
        // A device that comes gets what waits, once.
        var paged: [NotificationID] = []
        for device in Workload.devices {
            paged += try await withCheckedThrowingContinuation { continuation in
                store.page(device: device, after: nil, limit: 1000, now: Timestamp(rawValue: 0)) {
                    continuation.resume(with: $0)
                }
            }.filter { $0.notice == nil }.map(\.id)
        }
        let waiting = rows.filter { $0["waits"] as Int > 0 }.map { NotificationID(rawValue: $0["id"]) }
        #expect(paged.sorted() == waiting.sorted())
    }
}

/// A short life of a server: acceptances by the batch, acknowledgements, withdrawals, expiry, overflow, checkpoints.
private enum Workload {
    static let devices = (1...3).compactMap { DeviceID(UInt64($0)) }
    private static let rounds = 6
    /// In each round and for each device: of those for the first app two are acknowledged, one is withdrawn, one expires and
    /// the last one stays; those for the second are more than may wait.
    private static let perRound = 10
    static let accepted = rounds * perRound * devices.count

    final class Results: AcceptanceSink {
        let position: @Sendable () -> Int
        private let told = Mutex<[(id: NotificationID, position: Int)]>([])
        private let all: AsyncStream<Void>.Continuation

        init(position: @escaping @Sendable () -> Int, all: AsyncStream<Void>.Continuation) {
            self.position = position
            self.all = all
        }

        func completed(_ results: [AcceptanceResult]) {
            let now = position()
            told.withLock { $0 += results.compactMap(\.id).map { ($0, now) } }
            for _ in results { all.yield() }
        }

        func taken() -> [(id: NotificationID, position: Int)] { told.withLock { $0 } }
    }

    final class Silent: DeviceConnection {
        func deliver(_ notifications: [OutgoingNotification]) {}
        func waitingChanged() {}
        func superseded() {}
        func revoked() {}
    }

    static func run(path: String, position: @escaping @Sendable () -> Int) async throws -> Ledger {
        let store = try SQLiteStore(path: path)
        let start = position()
        // The log is copied into the database several times meanwhile.
        try await store.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 60") }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let clock = ManualClock()
        var settings = MailboxService.Settings()
        settings.batchLimit = 16
        let service = try MailboxService(
            store: store, node: 0, loop: group.next(), settings: settings, clock: clock.function,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        var run = WorkloadRun(store: store, service: service, clock: clock, position: position)
        try await run.register()
        for _ in 0..<rounds { try await run.round(count: perRound) }
        await service.stop()
        try await group.shutdownGracefully()
        try store.close()
        var ledger = run.ledger
        ledger.start = start
        return ledger
    }
}

private struct WorkloadRun {
    let store: SQLiteStore
    let service: MailboxService
    let clock: ManualClock
    let position: @Sendable () -> Int
    var apps: [RegisteredApp] = []
    var ledger = Ledger()
    var expiring: [NotificationID] = []

    private static let payload = Array(
        #"{"aps":{"alert":"Milk"},"filler":"\#(String(repeating: "x", count: 900))"}"#.utf8)

    mutating func register() async throws {
        let policies = [MailboxPolicy(), MailboxPolicy(limit: 3, overflow: .clear)]
        for (number, policy) in policies.enumerated() {
            apps.append(
                try await store.register.addApp(
                    topic: Topic(rawValue: "com.example.app\(number)"), team: TeamID(rawValue: "TEAM123456"),
                    policy: policy, at: clock.now))
        }
        for device in Workload.devices {
            let credentials = DeviceCredentials(device: device, secret: 0xFEED)
            #expect(try await store.register.addDevice(device, secretHash: credentials.secretHash, at: clock.now))
        }
    }

    mutating func round(count: Int) async throws {
        for device in Workload.devices {
            let ids = try await accept(count, for: device)
            let login = DeviceLogin(device: device, secret: 0xFEED, received: [])
            let verdict = await withCheckedContinuation { continuation in
                service.open(login, connection: Workload.Silent()) { continuation.resume(returning: $0) }
            }
            guard case .welcome(let session, _) = verdict else { throw CancellationError() }
            service.sent(session, ids)
            try await acknowledge(Array(ids.prefix(2)), session)
            try await withdraw(ids[2], device)
            service.close(session)
        }
        for id in expiring { mayEnd(id) }
        clock.advance(milliseconds: 60_000)
        await service.sweepOnce()
        try await service.flushNotes()
    }

    private mutating func mayEnd(_ id: NotificationID) {
        ledger.mayEnd[id] = min(ledger.mayEnd[id] ?? .max, position())
    }

    private mutating func accept(_ count: Int, for device: DeviceID) async throws -> [NotificationID] {
        let (stream, all) = AsyncStream<Void>.makeStream()
        let sink = Workload.Results(position: position, all: all)
        let asked = position()
        for number in 0..<count {
            let app = apps[number < count / 2 ? 0 : 1]
            let expiry: Expiry = number == 3 ? .until(clock.now.adding(milliseconds: 30_000)) : .policyDefault
            let acceptance = AcceptedNotification(
                app: app,
                subject: TokenSubject(cell: 0, device: device, app: app.id, environment: .sandbox, generation: 0),
                notification: Notification(
                    apnsID: APNsID(rawValue: UUID().uuidString), topic: app.topic, expiry: expiry, collapseID: nil,
                    content: .apns(Self.payload)),
                ticket: Int32(number))
            #expect(service.accept(acceptance, sink: sink))
        }
        var left = count
        for await _ in stream {
            left -= 1
            if left == 0 { break }
        }
        let taken = sink.taken()
        ledger.accepted += taken
        // More come for the second app than may wait, so that it is cleared.
        for (id, _) in taken.suffix(count - count / 2) { ledger.mayEnd[id] = asked }
        expiring.append(taken[3].id)
        return taken.map(\.id)
    }

    private mutating func acknowledge(_ ids: [NotificationID], _ session: DeviceSessionID) async throws {
        for id in ids { mayEnd(id) }
        let answer: Int? = await withCheckedContinuation { continuation in
            service.acknowledged(session, ids) { [position] in continuation.resume(returning: $0 ? position() : nil) }
        }
        let told = try #require(answer)
        for id in ids { ledger.ended[id] = told }
    }

    private mutating func withdraw(_ id: NotificationID, _ device: DeviceID) async throws {
        mayEnd(id)
        let told: Int? = await withCheckedContinuation { continuation in
            service.withdraw(id, of: device) { [position] outcome in
                let isDone = outcome == .withdrawn || outcome == .mayHaveArrived
                continuation.resume(returning: isDone ? position() : nil)
            }
        }
        let ended = try #require(told)
        ledger.ended[id] = ended
    }
}
