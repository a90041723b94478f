import GRDB
import Glibc

/// A look at a database's file for damage, beside a server that may be running on it. It changes nothing.
///
/// It finds pages that are not as SQLite wrote them, tables, indexes and triggers that are not as the migrations made them,
/// and values of another type than their column's. It does not find a byte that was changed within a text or a blob, since
/// SQLite keeps no checksums; nor an index that lacks a row.
package struct DatabaseInspection: Sendable {
    private let name: ServerDatabase
    private let path: String
    private let migrator: DatabaseMigrator

    /// The longest file that is read whole before a server serves; of a longer one that is done beside it. Reading one of this
    /// length takes about half a second, the types of a million values a quarter of that.
    package static let wholeLimit: Int64 = 64 << 20

    /// An inspection of a file that is there.
    ///
    /// - Parameter migrator: The migrations that made its tables.
    package init(_ name: ServerDatabase, path: String, migrator: DatabaseMigrator) {
        self.name = name
        self.path = path
        self.migrator = migrator
    }

    /// Looks at the header and the schema, and reads the whole file unless it is longer than a limit.
    ///
    /// - Returns: Whether the whole file was read.
    /// - Throws: ``DatabaseFault``.
    package func begin(limit: Int64 = wholeLimit) throws(DatabaseFault) -> Bool {
        let isShort = size <= limit
        try withOpenDatabase { queue in
            let tables = try checkSchema(queue)
            guard isShort else { return }
            try queue.read { database in
                try check(pages: "quick_check(1)", database)
                for table in tables { try checkRows(of: table, database) }
            }
        }
        return isShort
    }

    /// Reads the whole file, one table after the other, so that no look at it holds up the log's copying for long.
    ///
    /// - Parameter pause: Called after each table with how long it took; returns whether to go on.
    /// - Throws: ``DatabaseFault``.
    package func readAll(pause: (Duration) -> Bool) throws(DatabaseFault) {
        try withOpenDatabase { queue in
            for table in try checkSchema(queue) {
                let began = ContinuousClock.now
                try queue.read { database in
                    try check(pages: "quick_check(\(table.quotedDatabaseIdentifier))", database)
                    try checkRows(of: table, database)
                }
                guard pause(ContinuousClock.now - began) else { return }
            }
        }
    }

    /// The file's length, without its log.
    private var size: Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    // MARK: Parts

    /// - Returns: The names of our tables.
    private func checkSchema(_ queue: DatabaseQueue) throws -> [String] {
        let (applied, found) = try queue.read { database in
            guard try !migrator.hasBeenSuperseded(database) else { throw DatabaseFault(name, path: path, .newer) }
            return (try migrator.completedMigrations(database).last, try Self.schema(database))
        }
        guard let applied else {
            let isBlank = found.keys.allSatisfy { $0 == "table grdb_migrations" }
            throw isBlank ? DatabaseFault(name, path: path, .empty) : damage("it has no tables of aldaba's")
        }
        let model = try DatabaseQueue()
        try migrator.migrate(model, upTo: applied)
        let (expected, tables) = try model.read { (try Self.schema($0), try Self.tables($0)) }
        // What others have added, an index for one, is theirs.
        let different = expected.filter { found[$0.key] != $0.value }.keys.sorted()
        if let name = different.first {
            throw damage("\(name) is not as it was made, or is missing")
        }
        return tables
    }

    /// The text of each table, index and trigger, by its kind and name.
    private static func schema(_ database: Database) throws -> [String: String] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT CAST(type AS TEXT) || ' ' || CAST(name AS TEXT), CAST(tbl_name AS TEXT) || ': ' || CAST(sql AS TEXT)
                FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                """)
        var schema: [String: String] = [:]
        for row in rows {
            if let name = row[0] as String?, let text = row[1] as String? { schema[name] = text }
        }
        return schema
    }

    private static func tables(_ database: Database) throws -> [String] {
        try String.fetchAll(
            database,
            sql:
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
        )
    }

    private func check(pages pragma: String, _ database: Database) throws {
        let verdict = try String.fetchOne(database, sql: "PRAGMA \(pragma)") ?? "ok"
        guard verdict == "ok" else {
            let line = verdict.split(whereSeparator: \.isNewline).joined(separator: " ")
            throw damage("database disk image is malformed: \(line)")
        }
    }

    /// A row whose values have other types than their columns would end the program that reads it.
    private func checkRows(of table: String, _ database: Database) throws {
        let columns = try Row.fetchAll(
            database, sql: "SELECT name, type, \"notnull\" FROM pragma_table_info(?)", arguments: [table])
        let wrong = columns.compactMap { row -> String? in
            guard let kind = ["INTEGER": "integer", "TEXT": "text", "BLOB": "blob"][row[1] as String] else {
                return nil
            }
            let name = (row[0] as String).quotedDatabaseIdentifier
            let isRequired: Bool = row[2]
            return "typeof(\(name)) <> '\(kind)'" + (isRequired ? "" : " AND \(name) IS NOT NULL")
        }
        guard !wrong.isEmpty else { return }
        let found = try Bool.fetchOne(
            database,
            sql:
                "SELECT EXISTS(SELECT 1 FROM \(table.quotedDatabaseIdentifier) WHERE \(wrong.joined(separator: " OR ")))"
        )
        if found == true {
            throw damage("database disk image is malformed: a row of \(table) has a value of another type")
        }
    }

    // MARK: Opening

    /// - Throws: ``DatabaseFault``.
    private func withOpenDatabase(_ body: (DatabaseQueue) throws -> Void) throws(DatabaseFault) {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(10)
        do {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try body(queue)
            try queue.close()
        } catch {
            throw DatabaseFault(name, opening: path, error)
        }
    }

    private func damage(_ reason: String) -> DatabaseFault { DatabaseFault(name, path: path, .damaged(reason)) }
}
