/// A connection to a database in a transaction. Its statements are in the SQL that SQLite and PostgreSQL share.
///
/// A parameter is `?`, or `?1` for the first where it is used more than once; no statement has a question mark in a literal.
package protocol SQLConnection {
    /// Whether other servers change rows meanwhile. What a change is decided by has to be locked then.
    var isShared: Bool { get }

    /// Executes a statement once for each list of parameters, in order and without a round trip for each.
    ///
    /// - Returns: The result of each execution.
    /// - Throws: The error of the first that fails.
    func execute(_ sql: String, each parameters: [[SQLParameter]]) throws -> [SQLResult]
}

/// The result of a statement.
package struct SQLResult {
    /// The rows that the statement returned.
    package var rows: [any SQLRow]
    /// The number of rows that the statement changed.
    package var changed: Int

    /// Creates an instance from its properties.
    package init(rows: [any SQLRow], changed: Int) {
        self.rows = rows
        self.changed = changed
    }
}

extension SQLConnection {
    /// Executes a statement that returns rows.
    package func rows(_ sql: String, _ parameters: any SQLValue...) throws -> [any SQLRow] {
        try execute(sql, parameters.map(\.parameter)).rows
    }

    /// Executes a statement, and returns its first row.
    package func row(_ sql: String, _ parameters: any SQLValue...) throws -> (any SQLRow)? {
        try execute(sql, parameters.map(\.parameter)).rows.first
    }

    /// Executes a statement once.
    package func execute(_ sql: String, _ parameters: [SQLParameter]) throws -> SQLResult {
        try execute(sql, each: [parameters]).first ?? SQLResult(rows: [], changed: 0)
    }

    /// Executes a statement that changes rows.
    ///
    /// - Returns: The number of changed rows.
    @discardableResult
    package func run(_ sql: String, _ parameters: any SQLValue...) throws -> Int {
        try execute(sql, parameters.map(\.parameter)).changed
    }
}

/// A row that a statement returned.
package protocol SQLRow {
    /// The number in a column; `nil` for NULL.
    func integer(in column: String) throws -> Int64?
    /// The text in a column; `nil` for NULL.
    func text(in column: String) throws -> String?
    /// The bytes in a column; `nil` for NULL.
    func bytes(in column: String) throws -> [UInt8]?
    /// The truth value in a column; `nil` for NULL.
    func truth(in column: String) throws -> Bool?
}

extension SQLRow {
    /// The value in a column.
    ///
    /// - Throws: ``SQLColumnError`` for NULL, where the type has no such value, and for a value that the type cannot hold.
    package subscript<Value: SQLValue>(column: String) -> Value {
        get throws { try Value.read(column, of: self) }
    }
}

/// A database with transactions, in a file or on a server.
package protocol SQLDatabase: Sendable {
    /// Reads in one transaction, as of one moment.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value

    /// Reads in one transaction with a connection that nothing else is waiting for. Blocks.
    func readBlocking<Value: Sendable>(_ body: @Sendable (any SQLConnection) throws -> Value) throws -> Value

    /// Makes changes in one transaction, durable when the call returns. The body is run again after a conflict with another
    /// server.
    ///
    /// - Parameter committed: Called after the commit. For a database that only this process changes, the calls are in the
    ///   order of the commits.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value,
        committed: @escaping @Sendable (Value) -> Void
    ) async throws -> Value

    /// Makes changes as ``write(_:committed:)``. Blocks.
    func writeBlocking<Value: Sendable>(_ body: @Sendable (any SQLConnection) throws -> Value) throws -> Value

    /// Takes the right to do some work that one server at a time does. It ends with the process, or without notice where the server
    /// loses the database or stands still.
    ///
    /// - Returns: Whether no other server has it.
    func claim(_ claim: SQLClaim) async throws -> Bool
    /// Gives back what ``claim(_:)`` took.
    func release(_ claim: SQLClaim) async
    /// The claims of a kind that servers have now.
    func claims(_ kind: SQLClaim.Kind) async throws -> [SQLClaim]

    /// Closes the database.
    func close() throws
}

extension SQLDatabase {
    /// Makes changes in one transaction, durable when the call returns.
    @discardableResult
    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await write(body, committed: { _ in })
    }
}

/// A piece of work that one server at a time does.
package struct SQLClaim: Hashable, Sendable {
    /// A kind of work. The numbers are the same in all versions of the program.
    package enum Kind: Int32, Sendable {
        /// The next step of a hub's send; the number is the send's.
        case send = 41_500
        /// The division of a hub's campaigns; the number is the hub's.
        case campaigns = 41_501
        /// The calls of a hub's webhook; the number is the hub's.
        case webhook = 41_502
    }

    /// The kind.
    package var kind: Kind
    /// The number of what the work is for.
    package var number: Int64

    /// Creates an instance from its properties.
    package init(_ kind: Kind, _ number: Int64) {
        self.kind = kind
        self.number = number
    }
}
