import Testing

@testable import PostgresStore

@Suite(.enabled(if: PostgresServer.programs != nil, "no server of PostgreSQL is installed"))
struct PostgresConnectionTests {
    private let server: PostgresServer
    private let connection: PostgresConnection

    init() throws {
        server = try PostgresServer()
        connection = try server.connect()
    }

    private func texts(_ sql: String, _ parameter: PostgresParameter) throws -> [String?] {
        try connection.prepare("", sql, [parameter.kind])
        let rows = try #require(try connection.pipeline([.init("", [parameter])]).first)
        return (0..<rows.count).map { rows.text($0, 0) }
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
        #expect(try texts("SELECT ($1 + 1)::text", .int8(41)) == ["42"])
        #expect(try texts("SELECT coalesce($1, 'none')", .text(nil)) == ["none"])
        #expect(try texts("SELECT $1 || '!'", .text("")) == ["!"])
    }

    @Test func `the statements of a pipeline are one transaction, and its rows come in order`() throws {
        try connection.execute("CREATE TABLE item(id bigint PRIMARY KEY)")
        try connection.prepare("add", "INSERT INTO item SELECT unnest($1::bigint[])", [.int8Array])
        try connection.prepare("all", "SELECT count(*), sum(id)::bigint FROM item", [])
        let rows = try connection.pipeline([.init("add", [.int8s((1...100_000).map { Int64($0) })]), .init("all")])
        #expect(rows.map(\.changed) == [100_000, 1])
        #expect(rows[1].integer(0, 0) == 100_000 && rows[1].integer(0, 1) == 5_000_050_000)
    }

    @Test func `a pipeline that fails has the server's code, changes nothing, and leaves the connection usable`() throws
    {
        try connection.execute("CREATE TABLE item(id bigint PRIMARY KEY)")
        try connection.prepare("add", "INSERT INTO item SELECT unnest($1::bigint[])", [.int8Array])
        try connection.prepare("all", "SELECT count(*) FROM item", [])
        let error = #expect(throws: PostgresError.self) {
            try connection.pipeline([.init("add", [.int8s([1])]), .init("add", [.int8s([1])]), .init("all")])
        }
        #expect(error?.code == "23505" && error?.isDeadlock == false)
        #expect(try connection.pipeline([.init("all")]).first?.integer(0, 0) == 0)
    }

    @Test func `two connections that lock each other's rows end with a deadlock for one`() async throws {
        try connection.execute(
            "CREATE TABLE item(id bigint PRIMARY KEY, n int); INSERT INTO item VALUES (1, 0), (2, 0)")
        let other = try server.connect()
        try connection.execute("SET deadlock_timeout = '50ms'; BEGIN; UPDATE item SET n = 1 WHERE id = 1")
        try other.execute("BEGIN; UPDATE item SET n = 2 WHERE id = 2")
        // The library's calls block, so that the second waits on a thread of its own.
        nonisolated(unsafe) let waiting = other
        let second = Task.detached { () -> PostgresError? in
            do { try waiting.execute("UPDATE item SET n = 2 WHERE id = 1") } catch { return error as? PostgresError }
            return nil
        }
        var first: PostgresError?
        do { try connection.execute("UPDATE item SET n = 1 WHERE id = 2") } catch { first = error as? PostgresError }
        if first != nil { try connection.execute("ROLLBACK") }
        let faults = [first, await second.value].compactMap(\.self)
        #expect(faults.count == 1 && faults.first?.isDeadlock == true)
    }

    @Test func `a server that is not there is named by its place`() {
        let error = #expect(throws: PostgresError.self) {
            _ = try PostgresConnection(["host": "/nowhere", "dbname": "postgres"])
        }
        #expect(error?.code == nil && error?.message.contains("/nowhere") == true)
    }
}
