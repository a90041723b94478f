extension PostgresConnection {
    /// Executes one statement.
    @discardableResult
    func run(_ sql: String, _ parameters: any PostgresValue...) throws -> PostgresRows {
        try run(Statement(sql, parameters.map { PostgresParameter($0) }))
    }

    /// Executes one statement.
    @discardableResult
    func run(_ statement: Statement) throws -> PostgresRows {
        guard let rows = try pipeline([statement]).first else {
            throw PostgresError(code: nil, message: "PostgreSQL did not answer a statement")
        }
        return rows
    }

    /// Makes changes in one transaction.
    ///
    /// - Throws: The error of the body, and nothing has changed; or ``PostgresError``, of which
    ///   ``PostgresError/isCommitUnknown`` tells whether something may have.
    package func transaction<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        try renewPlans()
        try execute("BEGIN")
        let value: Value
        do { value = try body(self) } catch {
            try rollBack()
            throw error
        }
        try commit()
        return value
    }

    /// Reads in one transaction, which sees the state at its beginning.
    package func snapshot<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        try renewPlans()
        try execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        defer {
            // A connection that cannot end its transaction is not used again.
            try? rollBack()
        }
        return try body(self)
    }

    /// Ends the transaction, if there is one, without its changes. A lost connection has none.
    func rollBack() throws { if isUsable, isInTransaction { try execute("ROLLBACK") } }

    /// Ends the transaction with its changes.
    func commit() throws {
        do {
            // The answer to COMMIT of a transaction with a failed statement is ROLLBACK.
            guard try run("COMMIT").command == "COMMIT" else { throw PostgresError.undone }
        } catch var error as PostgresError {
            error.isCommitUnknown = error.isLost
            throw error
        }
    }
}

extension PostgresError {
    /// The server answered COMMIT with ROLLBACK.
    static let undone = PostgresError(code: "25P02", message: "a statement of the transaction had failed")
}
