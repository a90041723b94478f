import GRDB

/// A database whose damage is noted wherever it is met. From then on every access throws the fault, and the file is not
/// touched any more.
package struct WatchedDatabase<Base: DatabaseWriter>: Sendable {
    /// `nil` for one that had a fault before it was opened.
    private let base: Base?
    /// Whether the database can be used.
    package let health: DatabaseHealth

    /// Watches a database that is open.
    package init(_ base: Base, _ health: DatabaseHealth) {
        self.base = base
        self.health = health
    }

    /// Stands in the place of a database that cannot be opened; its fault is noted already.
    package init(unopened health: DatabaseHealth) {
        base = nil
        self.health = health
    }

    /// The database itself, where it can be used. Damage that is met by its own functions is not noted.
    ///
    /// - Throws: the fault, where there is one.
    package func sound() throws -> Base {
        try health.requireSound()
        guard let base else { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
        return base
    }

    private func watching<Value>(_ body: (Base) throws -> Value) throws -> Value {
        let base = try sound()
        do { return try body(base) } catch { throw health.judged(error) }
    }

    /// Reads, in a transaction.
    @_disfavoredOverload
    package func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try watching { try $0.read(body) }
    }

    /// Reads, in a transaction.
    package func read<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        let base = try sound()
        do { return try await base.read(body) } catch { throw health.judged(error) }
    }

    /// Reads later, in a transaction, and completes on the reader's thread; at once where there is a fault already.
    package func asyncRead<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value,
        then complete: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let base: Base
        do { base = try sound() } catch { return complete(.failure(error)) }
        base.asyncRead { [health] access in
            complete(Result { try body(try access.get()) }.mapError(health.judged))
        }
    }

    /// Writes, in a transaction.
    @_disfavoredOverload
    package func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try watching { try $0.write(body) }
    }

    /// Writes, in a transaction.
    package func write<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        let base = try sound()
        do { return try await base.write(body) } catch { throw health.judged(error) }
    }

    /// Has the writer's connection, without a transaction.
    @_disfavoredOverload
    package func writeWithoutTransaction<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try watching { try $0.writeWithoutTransaction(body) }
    }

    /// Has the writer's connection, without a transaction.
    package func writeWithoutTransaction<Value: Sendable>(
        _ body: @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let base = try sound()
        do { return try await base.writeWithoutTransaction(body) } catch { throw health.judged(error) }
    }

    /// Has the writer's connection, also where the caller has it already.
    package func unsafeReentrantWrite<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try watching { try $0.unsafeReentrantWrite(body) }
    }
}

extension WatchedDatabase<DatabasePool> {
    /// Moves the log into the database's file, and closes the database.
    package func close() throws {
        let pool = try sound()
        try pool.writeWithoutTransaction { database in
            do {
                do { _ = try database.checkpoint(.truncate) } catch DatabaseError.SQLITE_INTERRUPT {
                    // A task that was cancelled may interrupt its statement too late, and SQLite then interrupts this. It does so
                    // once.
                    _ = try database.checkpoint(.truncate)
                }
            } catch DatabaseError.SQLITE_BUSY {
                // Another process moves the log at this moment, or reads it; the last one to close does it.
            }
        }
        try pool.close()
    }
}
