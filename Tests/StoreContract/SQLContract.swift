import PushCore
import PushServer
import Synchronization
import Testing

/// The rules of ``SQLDatabase``, which each database has to follow.
package struct SQLContract: Sendable {
    private let database: any SQLDatabase

    /// Makes the table of the checks.
    package init(_ database: any SQLDatabase) async throws {
        self.database = database
        try await database.write { sql in
            try sql.run("CREATE TABLE thing(number bigint PRIMARY KEY, name text, content bytea, is_on boolean)")
        }
    }

    /// Values come back as they were written, NULL included.
    package func checkValues() async throws {
        try await database.write { sql in
            try sql.run(
                "INSERT INTO thing(number, name, content, is_on) VALUES (?, ?, ?, ?)", Int64.min, "ñ'?\"$1",
                [0, 255] as [UInt8], true)
            try sql.run(
                "INSERT INTO thing(number, name, content, is_on) VALUES (?, ?, ?, ?)", Timestamp(rawValue: 5),
                nil as String?, nil as [UInt8]?, nil as Bool?)
            try sql.run("INSERT INTO thing(number, name, content) VALUES (?1, ?2, ?3)", 7, "", [] as [UInt8])
        }
        try await database.read { sql in
            let rows = try sql.rows("SELECT * FROM thing ORDER BY number")
            #expect(try rows.map { try $0["number"] as Int64 } == [.min, 5, 7])
            #expect(try rows.map { try $0["name"] as String? } == ["ñ'?\"$1", nil, ""])
            #expect(try rows.map { try $0["content"] as [UInt8]? } == [[0, 255], nil, []])
            #expect(try rows.map { try $0["is_on"] as Bool? } == [true, nil, nil])
            #expect(try rows[1]["number"] as Timestamp == Timestamp(rawValue: 5))
            let name = SQLColumnError(column: "name")
            #expect(throws: name) { try rows[1]["name"] as String }
            #expect(throws: SQLColumnError(column: "number")) { try rows[0]["number"] as UInt32 }
            #expect(throws: SQLColumnError(column: "other")) { try rows[0]["other"] as Int64? }
        }
    }

    /// A statement is executed for each list, and says what it changed.
    package func checkStatements() async throws {
        let (inserted, changed, returned) = try await database.write { sql in
            let inserted = try sql.execute(
                "INSERT INTO thing(number, name) VALUES (?, ?)",
                each: (0..<2500).map { [$0.parameter, "n\($0 % 5)".parameter] })
            let changed = try sql.run("UPDATE thing SET name = ?2 WHERE name = ?1", "n1", "n2")
            let returned = try sql.rows("UPDATE thing SET name = name WHERE number < ? RETURNING number", 3)
            return (inserted.map(\.changed), changed, try returned.map { try $0["number"] as Int }.sorted())
        }
        #expect(inserted == Array(repeating: 1, count: 2500))
        #expect(changed == 500)
        #expect(returned == [0, 1, 2])
        let counts = try await database.read { sql in
            try sql.execute(
                "SELECT count(*) AS count FROM thing WHERE name = ?", each: ["n1", "n2", "x"].map { [$0.parameter] }
            ).map { try $0.rows[0]["count"] as Int }
        }
        #expect(counts == [0, 1000, 0])
        #expect(try database.readBlocking { try $0.row("SELECT name FROM thing WHERE number = ?", 2)?["name"] } == "n2")
    }

    /// A transaction with an error changes nothing, and one that is committed says so once.
    package func checkTransactions() async throws {
        struct Cancelled: Error {}
        let committed = Mutex<[Int]>([])
        await #expect(throws: Cancelled.self) {
            try await database.write { sql in
                try sql.run("INSERT INTO thing(number) VALUES (1)")
                throw Cancelled()
            } committed: { (number: Int) in
                committed.withLock { $0.append(number) }
            }
        }
        let number = try await database.write { sql in
            try sql.run("INSERT INTO thing(number) VALUES (2)")
            return 2
        } committed: { number in
            committed.withLock { $0.append(number) }
        }
        #expect(number == 2 && committed.withLock { $0 } == [2])
        let numbers: [Int] = try await database.read {
            try $0.rows("SELECT number FROM thing").map { try $0["number"] }
        }
        #expect(numbers == [2])
    }
}
