import AldabaTestSupport
import Foundation
import GRDB
import Synchronization
import Testing

@testable import SQLiteStore

/// Changes that share a transaction, each for itself.
@Suite struct GroupedWritesTests {
    private struct Wrong: Error {}

    private let folder: TemporaryFolder
    private let store: SQLiteStore

    init() throws {
        folder = try TemporaryFolder()
        store = try SQLiteStore(path: folder.path("server.sqlite"))
        try store.pool.write { try $0.execute(sql: "CREATE TABLE noted(value INTEGER NOT NULL UNIQUE)") }
    }

    private func note(_ value: Int64, thenFails: Bool = false) async throws -> Int64 {
        try await store.grouped.write { database in
            try database.execute(sql: "INSERT INTO noted(value) VALUES(?)", arguments: [value])
            if thenFails { throw Wrong() }
            return value
        }
    }

    private var noted: [Int64] {
        get throws {
            try store.pool.read { try Int64.fetchAll($0, sql: "SELECT value FROM noted ORDER BY value") }
        }
    }

    @Test func `all are made, each answered with its own value`() async throws {
        let made = try await withThrowingTaskGroup(of: Int64.self) { group in
            for value in 0..<1000 as Range<Int64> { group.addTask { try await note(value) } }
            return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
        }
        #expect(made == Set(0..<1000))
        #expect(try noted == Array(0..<1000))
    }

    @Test func `one that fails is undone alone`() async throws {
        let failed = await withTaskGroup(of: Bool.self) { group in
            for value in 0..<300 as Range<Int64> {
                group.addTask { (try? await note(value, thenFails: value % 3 == 0)) == nil }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(failed == 100)
        #expect(try noted == (0..<300).filter { $0 % 3 != 0 })
        await #expect(throws: DatabaseError.self) { try await note(1) }
        #expect(try await note(0) == 0)
    }

    @Test func `damage that a change meets is noted, and ends all changes`() async throws {
        await #expect(throws: DatabaseFault.self) {
            try await store.grouped.write { _ in throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "malformed")
            }
        }
        #expect(store.databaseHealth.fault?.kind == .damaged("malformed"))
        await #expect(throws: DatabaseFault.self) { try await note(1) }
    }

    @Test func `many share a commit`() async throws {
        let commits = CommitCount()
        try store.pool.sound().add(transactionObserver: commits, extent: .databaseLifetime)
        // The writer is busy until all but the first few of them wait.
        let release = DispatchSemaphore(value: 0)
        let isBusy = Latch()
        let busy = Task { [store] in
            try await store.grouped.write { _ in
                isBusy.open()
                release.wait()
            }
        }
        await isBusy.wait()
        let all = (0..<200 as Range<Int64>).map { value in Task { try await note(value) } }
        while store.grouped.waitingCount < 200 { await Task.yield() }
        release.signal()
        try await busy.value
        for each in all { _ = try await each.value }
        #expect(commits.count.withLock { $0 } == 2, "one for who was first, one for the others")
    }
}

private final class CommitCount: TransactionObserver, Sendable {
    let count = Mutex(0)

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) { count.withLock { $0 += 1 } }
    func databaseDidRollback(_ db: Database) {}
}
