import Foundation
import PostgresTestSupport
import PushCore
import Synchronization
import Testing

@testable import PostgresStore

extension PostgresTests {
    @Suite struct Connections {
        private let database: [String: String]
        private let connection: PostgresConnection

        init() throws {
            database = try PostgresServer.database(withTables: false)
            connection = try PostgresConnection(database)
        }

        /// A port of loopback whose connections nobody accepts: the kernel takes them, and nothing answers.
        private func silentPort() throws -> (descriptor: Int32, port: UInt16) {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let port = try withUnsafeMutablePointer(to: &address) { pointer in
                try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    try #require(bind(descriptor, address, length) == 0 && listen(descriptor, 8) == 0)
                    try #require(getsockname(descriptor, address, &length) == 0)
                }
                return UInt16(bigEndian: pointer.pointee.sin_port)
            }
            return (descriptor, port)
        }

        @Test func `a host that does not answer delays no other`() throws {
            let silent = try silentPort()
            defer { close(silent.descriptor) }
            let folder = try #require(database["host"])
            var hosts = database
            hosts["host"] = "127.0.0.1,/nowhere,\(folder)"
            hosts["port"] = "\(silent.port),5432,5432"
            let began = ContinuousClock.now
            #expect(try PostgresConnection(hosts).isUsable)
            // A host alone has five seconds.
            #expect(ContinuousClock.now - began < .seconds(4))
            hosts["host"] = "/nowhere,/neither"
            hosts["port"] = nil
            let error = #expect(throws: PostgresError.self) { try PostgresConnection(hosts) }
            #expect(error?.message.contains("/nowhere") == true && error?.message.contains("/neither") == true)
        }

        @Test
        func `a statement that was planned for an empty table finds its rows by their keys when the table has grown`()
            throws
        {
            let connection = try PostgresConnection(database, planLifetime: .zero)
            try connection.execute("SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan")
            try connection.execute("CREATE TABLE grown(key bigint PRIMARY KEY, value bigint); ANALYZE grown")
            let change = """
                UPDATE grown SET value = wanted.value FROM unnest($1::bigint[], $2::bigint[]) AS wanted(key, value)
                WHERE grown.key = wanted.key
                """
            let keys = PostgresParameter.int8s([1, 2])
            func plan() throws -> [String] {
                try connection.run(.init(change, [keys, keys]))
                return try connection.run("EXPLAIN EXECUTE s0('{1,2}', '{1,2}')").map { try $0[0] }
            }
            #expect(try !plan().contains { $0.contains("Index Cond: (key = wanted.key)") })
            try connection.execute("INSERT INTO grown SELECT number, 0 FROM generate_series(1, 10000) number")
            #expect(try plan().contains { $0.contains("Index Cond: (key = wanted.key)") })
        }

        private func texts(_ sql: String, _ parameter: PostgresParameter) throws -> [String?] {
            try connection.run(.init(sql, [parameter])).map { try $0[0] }
        }

        @Test(
            arguments: [
                (PostgresParameter.int8s([1, nil, .max]), ["1", nil, "9223372036854775807"]),
                (.int4s([-1, 2]), ["-1", "2"]), (.int2s([Int16.min]), ["-32768"]),
                (.bools([true, nil, false]), ["true", nil, "false"]),
                (.texts(["a'b", "", nil, "ñ"]), ["a'b", "", nil, "ñ"]), (.byteas([[0, 255], nil]), ["\\x00ff", nil]),
                (.int8s([]), []), (.texts([]), []),
            ] as [(PostgresParameter, [String?])])
        func `an array arrives as it is`(array: PostgresParameter, expected: [String?]) throws {
            #expect(
                try texts("SELECT value::text FROM unnest($1) WITH ORDINALITY AS item(value, n) ORDER BY n", array)
                    == expected)
        }

        @Test func `single values arrive as they are`() throws {
            #expect(try texts("SELECT ($1 + 1)::text", PostgresParameter(41)) == ["42"])
            #expect(try texts("SELECT coalesce($1, 'none')", PostgresParameter(nil as String?)) == ["none"])
            #expect(try texts("SELECT $1 || '!'", PostgresParameter("")) == ["!"])
        }

        @Test func `columns arrive as they are, and what a type cannot hold is an error`() throws {
            let row = try #require(
                try connection.run("SELECT -2::smallint, -3::int AS n, $1::bigint, NULL::bigint, 'ñ', true", Int.min)
                    .first)
            #expect(try row[0] == -2 && row["n"] == -3 && row[2] == Int.min)
            #expect(try row[3] == nil as Int64? && row[4] == "ñ" && row[5] == true)
            #expect(throws: PostgresError.self) { try row[3] as Int64 }
            #expect(throws: PostgresError.self) { try row[0] as UInt16 }
            #expect(throws: PostgresError.self) { try row["none"] as String }
            #expect(throws: PostgresError.self) { try row[4] as DeviceID }
        }

        @Test func `the statements of a pipeline are one transaction, and its rows come in order`() throws {
            try connection.execute("CREATE TABLE item(id bigint PRIMARY KEY)")
            let rows = try connection.pipeline([
                .init("INSERT INTO item SELECT unnest($1::bigint[])", [.int8s((1...100_000).map { Int64($0) })]),
                .init("SELECT count(*), sum(id)::bigint FROM item"),
            ])
            #expect(rows.map(\.changed) == [100_000, 1])
            #expect(try rows[1][0][0] == 100_000 && rows[1][0][1] == 5_000_050_000)
        }

        @Test func `a pipeline that fails has the server's code, changes nothing, and leaves the connection usable`()
            throws
        {
            try connection.execute("CREATE TABLE item(id bigint PRIMARY KEY)")
            let add = PostgresConnection.Statement("INSERT INTO item SELECT unnest($1::bigint[])", [.int8s([1])])
            let all = PostgresConnection.Statement("SELECT count(*) FROM item")
            let error = #expect(throws: PostgresError.self) { try connection.pipeline([add, add, all]) }
            #expect(error?.code == "23505" && error?.isDeadlock == false && error?.isLost == false)
            #expect(try connection.run(all)[0][0] == 0)
        }

        @Test func `two connections that lock each other's rows end with a deadlock for one`() async throws {
            try connection.execute(
                "CREATE TABLE item(id bigint PRIMARY KEY, n int); INSERT INTO item VALUES (1, 0), (2, 0)")
            let other = try PostgresConnection(database)
            try connection.execute("SET deadlock_timeout = '50ms'; BEGIN; UPDATE item SET n = 1 WHERE id = 1")
            try other.execute("BEGIN; UPDATE item SET n = 2 WHERE id = 2")
            // The library's calls block, so that the second waits on a thread of its own.
            nonisolated(unsafe) let waiting = other
            let second = Mutex<PostgresError?>(nil)
            let ended = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                do { try waiting.execute("UPDATE item SET n = 2 WHERE id = 1") } catch {
                    second.withLock { $0 = error as? PostgresError }
                }
                ended.signal()
            }
            var first: PostgresError?
            do { try connection.execute("UPDATE item SET n = 1 WHERE id = 2") } catch {
                first = error as? PostgresError
            }
            if first != nil { try connection.execute("ROLLBACK") }
            ended.wait()
            let faults = [first, second.withLock { $0 }].compactMap(\.self)
            #expect(faults.count == 1 && faults.first?.isDeadlock == true)
        }

        @Test func `a server that is not there is named by its place`() {
            let error = #expect(throws: PostgresError.self) {
                _ = try PostgresConnection(["host": "/nowhere", "dbname": "postgres"])
            }
            #expect(error?.code == nil && error?.message.contains("/nowhere") == true)
        }

        @Test func `a commit after a statement that failed is no success`() throws {
            try connection.execute("CREATE TABLE item(id bigint PRIMARY KEY)")
            func fail(_ connection: PostgresConnection) {
                #expect(throws: PostgresError.self) { try connection.run("SELECT 1 / 0") }
            }
            let error = #expect(throws: PostgresError.self) { try connection.transaction(fail) }
            #expect(error == .undone && !connection.isInTransaction)
        }

        @Test func `a connection that the server ended is not used again`() throws {
            try PostgresConnection(database).run("SELECT pg_terminate_backend($1::int)", Int(connection.processID))
            let error = #expect(throws: PostgresError.self) { try connection.run("SELECT 1") }
            #expect(error?.isLost == true && !connection.isUsable)
            #expect(throws: PostgresError.self) { try connection.execute("SELECT 1") }
        }

        @Test func `a server that does not answer is waited for until the timeout`() throws {
            let impatient = try PostgresConnection(database, timeout: .milliseconds(50))
            let error = #expect(throws: PostgresError.self) { try impatient.run("SELECT pg_sleep(60)") }
            #expect(error?.message.contains("did not answer") == true && !impatient.isUsable)
            // The server ends it itself when it notices that its client is gone.
            try connection.run("SELECT pg_terminate_backend($1::int)", Int(impatient.processID))
        }
    }
}
