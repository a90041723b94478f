import Crypto

/// The rows of a table that are read or written.
package enum RowSelection: Hashable, Sendable {
    /// All rows.
    case all
    /// The rows whose ``StoredTable/owner`` has one of these values.
    case owners([Int64])
}

/// A database whose tables are read or written, in one transaction.
package protocol TableStore {
    /// Whether the database has neither apps nor devices nor notifications.
    func isNew() throws -> Bool

    /// Calls a closure with each row of a table that is selected, in no order.
    func forEachRow(of table: StoredTable, _ selection: RowSelection, _ body: ([ColumnValue]) throws -> Void) throws

    /// Inserts rows into a table.
    func insert(_ rows: [[ColumnValue]], into table: StoredTable) throws

    /// The last number that the database gave in a table of ``StoredTable/numbered``; 0 for none.
    func lastNumber(in table: StoredTable) throws -> Int64

    /// Has the database continue after a number in a table of ``StoredTable/numbered``.
    func continueNumbers(in table: StoredTable, after number: Int64) throws

    /// Makes the tables that are no ``StoredTable`` from those that are.
    func makeOtherTables() throws
}

extension TableStore {
    private static var batch: Int { 4000 }
    /// The bytes of a batch, more or less: an audience may have many.
    private static var batchBytes: Int { 16_000_000 }

    /// Inserts the selected rows of another database, a batch at a time, and calls a closure with each.
    package func insertRows(
        of table: StoredTable, _ selection: RowSelection = .all, from source: some TableStore,
        _ body: ([ColumnValue]) -> Void
    ) throws {
        var rows: [[ColumnValue]] = []
        var bytes = 0
        try source.forEachRow(of: table, selection) { row in
            body(row)
            rows.append(row)
            bytes += row.reduce(0) { $0 + $1.byteCount }
            guard rows.count == Self.batch || bytes > Self.batchBytes else { return }
            try insert(rows, into: table)
            rows.removeAll(keepingCapacity: true)
            bytes = 0
        }
        if !rows.isEmpty { try insert(rows, into: table) }
        if StoredTable.numbered.contains(table.name) {
            try continueNumbers(in: table, after: try source.lastNumber(in: table))
        }
    }

    /// The number of selected rows and their digest.
    package func digest(of table: StoredTable, _ selection: RowSelection = .all) throws -> RowDigest {
        var digest = RowDigest()
        try forEachRow(of: table, selection) { digest.add($0) }
        return digest
    }
}

/// The number of rows and a digest that does not depend on their order.
package struct RowDigest: Hashable, Sendable {
    /// The number of rows.
    package private(set) var count = 0
    private var sum: UInt64 = 0
    private var other: UInt64 = 0

    /// Creates the digest of no row.
    package init() {}

    /// Adds a row.
    ///
    /// - Returns: The beginning of the row's hash.
    @discardableResult
    package mutating func add(_ row: [ColumnValue]) -> UInt64 {
        var bytes: [UInt8] = []
        for value in row {
            switch value {
            case .null: bytes.append(0)
            case .integer(let number):
                bytes.append(1)
                withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
            case .text(let text): Self.append(2, Array(text.withoutNUL.utf8), to: &bytes)
            case .bytes(let content): Self.append(3, content, to: &bytes)
            }
        }
        let parts = SHA256.hash(data: bytes).withUnsafeBytes { $0.bindMemory(to: UInt64.self).prefix(2).map(\.self) }
        count += 1
        sum &+= parts[0]
        other &+= parts[1]
        return parts[0]
    }

    private static func append(_ tag: UInt8, _ content: [UInt8], to bytes: inout [UInt8]) {
        bytes.append(tag)
        withUnsafeBytes(of: UInt64(content.count).littleEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: content)
    }
}

extension String {
    /// The text with U+FFFD in the place of NUL, which PostgreSQL's texts cannot have.
    package var withoutNUL: String {
        utf8.contains(0) ? String(unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : Character($0) }) : self
    }
}

/// A move of all tables of a server's database into another: a copy, and what has changed while it was made.
package struct TableMove {
    /// Why the tables were not moved; the other database is as it was.
    package enum Fault: Error, Hashable, CustomStringConvertible {
        /// The other database is in use.
        case notNew
        /// A table has other rows than those that were read.
        case different(String)

        /// The fault, and the remedy.
        package var description: String {
            switch self {
            case .notNew: "the database has the data of a server; name an empty one"
            case .different(let table): "the rows of \(table) are not those that were read; nothing was moved"
            }
        }
    }

    /// A table with rows that are not those that were copied.
    package struct Change: Hashable, Sendable {
        /// The table.
        package var table: StoredTable
        /// The rows that are to be copied again.
        package var selection: RowSelection
    }

    /// The numbers of rows and their digests, by the names of the tables.
    package private(set) var digests: [String: RowDigest] = [:]
    /// The hashes of the rows that were copied, each with its owner, by the names of the tables; `nil` where nothing changes.
    private var copied: [String: [UInt64: Int64]]?

    /// Creates a move.
    ///
    /// - Parameter remembersRows: Whether ``findChanges(in:)`` follows. A row then takes about 40 bytes of memory.
    package init(remembersRows: Bool) { copied = remembersRows ? [:] : nil }

    /// The number of all rows.
    package var count: Int { digests.values.reduce(0) { $0 + $1.count } }

    /// Copies the tables, and compares what is there then with what was read.
    ///
    /// Both databases are in transactions that the caller ends.
    /// - Parameter report: Called after each table, with the number of its rows.
    /// - Throws: ``Fault``, or the error of a database.
    package mutating func copy(
        from source: some TableStore, to target: some TableStore, report: (StoredTable, Int) -> Void
    ) throws {
        guard try target.isNew() else { throw Fault.notNew }
        for table in StoredTable.all {
            var digest = RowDigest()
            var rows: [UInt64: Int64]? = copied == nil ? nil : [:]
            try target.insertRows(of: table, from: source) { row in
                let hash = digest.add(row)
                rows?[hash] = table.owner(of: row)
            }
            digests[table.name] = digest
            copied?[table.name] = rows
            report(table, digest.count)
        }
        try target.makeOtherTables()
        for table in StoredTable.all {
            guard try target.digest(of: table) == digests[table.name] else { throw Fault.different(table.name) }
        }
    }

    /// Reads all tables again, and finds what has changed since ``copy(from:to:report:)``, also what is gone.
    ///
    /// - Returns: The tables with changes, in the order of ``StoredTable/all``.
    package mutating func findChanges(in source: some TableStore) throws -> [Change] {
        var changes: [Change] = []
        for table in StoredTable.all {
            var digest = RowDigest()
            var remaining = copied?.removeValue(forKey: table.name) ?? [:]
            var owners: Set<Int64> = []
            try source.forEachRow(of: table, .all) { row in
                if remaining.removeValue(forKey: digest.add(row)) == nil { owners.insert(table.owner(of: row)) }
            }
            owners.formUnion(remaining.values)
            digests[table.name] = digest
            if !owners.isEmpty {
                changes.append(Change(table: table, selection: table.owner == nil ? .all : .owners(owners.sorted())))
            } else if table.name == "enrolment_key", changes.contains(where: { $0.table.name == "installation" }) {
                // The other database counts a key's installations when they are copied again.
                changes.append(Change(table: table, selection: .all))
            }
        }
        return changes
    }
}

extension StoredTable {
    /// The value of ``owner`` in a row; 0 for a table without one.
    fileprivate func owner(of row: [ColumnValue]) -> Int64 {
        guard let owner, let column = columns.firstIndex(of: owner), case .integer(let number) = row[column] else {
            return 0
        }
        return number
    }
}
