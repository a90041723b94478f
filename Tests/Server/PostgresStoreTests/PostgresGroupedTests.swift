import AldabaTestSupport
import Dispatch
import PostgresTestSupport
import PushServer
import Testing

@testable import PostgresStore

extension PostgresTests {
    /// Changes that share a transaction.
    @Suite struct Grouped {
        private struct Refused: Error {}

        @Test(arguments: PostgresVersion.installed)
        func `many changes share a commit, and one that fails is undone alone`(version: PostgresVersion) async throws {
            let store = try PostgresServer.store(of: version)
            try await store.pool.write { try $0.execute("CREATE TABLE made(number bigint PRIMARY KEY)") }
            // The writer is busy until all but the first of them wait.
            let release = DispatchSemaphore(value: 0)
            let isBusy = Latch()
            let busy = Task {
                try await store.grouped.write { _ in
                    isBusy.open()
                    release.wait()
                }
            }
            await isBusy.wait()
            let all = (0..<100).map { number in
                Task {
                    try await store.grouped.write { connection -> Int in
                        try connection.run("INSERT INTO made VALUES($1)", number)
                        if number == 50 { throw Refused() }
                        // A key that is there already: PostgreSQL's own error.
                        if number == 60 { try connection.run("INSERT INTO made VALUES($1)", number) }
                        return try connection.run("SELECT txid_current()")[0][0]
                    }
                }
            }
            while store.grouped.waitingCount < 100 { await Task.yield() }
            release.signal()
            try await busy.value
            var transactions: Set<Int> = []
            for (number, task) in all.enumerated() {
                switch number {
                case 50: await #expect(throws: Refused.self) { try await task.value }
                case 60: await #expect(throws: PostgresError.self) { try await task.value }
                default: transactions.insert(try await task.value)
                }
            }
            #expect(transactions.count == 1)
            let made: Int? = try await store.pool.read { try $0.run("SELECT count(*) FROM made").first?[0] }
            #expect(made == 98)
        }
    }
}
