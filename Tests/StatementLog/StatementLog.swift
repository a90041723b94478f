import GRDB
import GRDBSQLite
import Synchronization

/// The statements that a store runs, and what SQLite says that each of them cost.
package final class StatementLog: Sendable {
    /// The most instructions of SQLite's machine that one run of a statement took.
    private let steps = Mutex<[String: Int]>([:])

    package init() {}

    /// The statements that ran, by their text, with the most steps that one run of each took.
    package var costs: [String: Int] { steps.withLock { $0 } }

    /// Listens to a connection for as long as that is used, which must not be longer than this is.
    package func follow(_ database: Database) {
        // What ran before counts no more.
        var statement = sqlite3_next_stmt(database.sqliteConnection, nil)
        while statement != nil {
            sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1)
            statement = sqlite3_next_stmt(database.sqliteConnection, statement)
        }
        let own = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_trace_v2(
            database.sqliteConnection, UInt32(SQLITE_TRACE_PROFILE),
            { _, own, statement, _ in
                guard let own, let statement = OpaquePointer(statement) else { return 0 }
                Unmanaged<StatementLog>.fromOpaque(own).takeUnretainedValue().ran(statement)
                return 0
            }, own)
    }

    private func ran(_ statement: OpaquePointer) {
        guard let text = sqlite3_sql(statement) else { return }
        let verb = String(cString: text).prefix { $0 != " " }
        // The others begin and end transactions.
        guard ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"].contains(verb) else { return }
        let cost = Int(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1))
        steps.withLock { $0[String(cString: text), default: 0].raise(to: cost) }
    }

    /// What SQLite says of how it finds the rows that a statement is about.
    package static func plan(of statement: String, in database: Database) throws -> [String] {
        let explanation = try database.makeStatement(sql: "EXPLAIN QUERY PLAN \(statement)")
        // Plans are made without the values.
        explanation.setUncheckedArguments([])
        return try Row.fetchAll(explanation).map { $0["detail"] }
    }
}

extension Int {
    fileprivate mutating func raise(to other: Int) { self = Swift.max(self, other) }
}
