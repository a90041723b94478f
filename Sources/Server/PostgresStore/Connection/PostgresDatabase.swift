import Dispatch
import PushServer
import Synchronization

/// The tables of a system in a PostgreSQL database, which several servers may use.
package final class PostgresDatabase: SQLDatabase {
    private let readers: PostgresPool
    /// Changes of one hub wait for each other, and no reading waits for them.
    private let writers: PostgresPool
    private let connect: @Sendable () throws -> PostgresConnection
    private let blocking = Mutex<PostgresConnection?>(nil)
    private let claimQueue = DispatchQueue(label: "aldaba.postgres.claims")
    /// The connection that has the claims: they end with it.
    private let claims = Mutex<PostgresConnection?>(nil)
    private let isClaimCheckScheduled = Atomic(false)

    /// Creates an instance; connections are made when they are first needed.
    ///
    /// - Parameters:
    ///   - schema: The schema of the system's tables.
    ///   - connections: The number of readings at once, and that of changes.
    ///   - connect: Makes a connection to the database.
    package init(schema: String, connections: Int = 4, connect: @escaping @Sendable () throws -> PostgresConnection) {
        let connectToSchema: @Sendable () throws -> PostgresConnection = {
            let connection = try connect()
            // A server that stands still keeps no row locked.
            try connection.execute(
                "SET search_path = \(schema); SET idle_in_transaction_session_timeout = '3s'")
            return connection
        }
        readers = PostgresPool(count: connections, connect: connectToSchema)
        writers = PostgresPool(count: connections, connect: connectToSchema)
        self.connect = connectToSchema
    }

    /// Reads with one of the readers' connections.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await readers.read { try body(PostgresTransaction(connection: $0)) }
    }

    /// Reads with a connection of its own; a lost one is replaced once.
    package func readBlocking<Value: Sendable>(
        _ body: @Sendable (any SQLConnection) throws -> Value
    ) throws -> Value {
        try blocking.withLock { kept in
            func read() throws -> Value {
                try Self.usable(&kept, connect).snapshot { try body(PostgresTransaction(connection: $0)) }
            }
            do { return try read() } catch let error as PostgresError where error.isLost { return try read() }
        }
    }

    /// Writes with one of the writers' connections; calls of `committed` may be in another order than the commits.
    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value,
        committed: @escaping @Sendable (Value) -> Void
    ) async throws -> Value {
        let value = try await writers.write { try body(PostgresTransaction(connection: $0)) }
        committed(value)
        return value
    }

    /// Writes with one of the writers' connections.
    package func writeBlocking<Value: Sendable>(
        _ body: @Sendable (any SQLConnection) throws -> Value
    ) throws -> Value {
        try writers.writeBlocking { try body(PostgresTransaction(connection: $0)) }
    }

    /// Takes an advisory lock for the session of a connection.
    package func claim(_ claim: SQLClaim) async throws -> Bool {
        try await onClaims { connection in
            try connection.run(
                "SELECT pg_try_advisory_lock($1::int, $2::int)", Int(claim.kind.rawValue), Self.key(claim)
            ).first?[0] ?? false
        }
    }

    /// Gives the advisory lock back. A lost connection has none.
    package func release(_ claim: SQLClaim) async {
        do {
            try await onClaims { connection in
                _ = try connection.run(
                    "SELECT pg_advisory_unlock($1::int, $2::int)", Int(claim.kind.rawValue), Self.key(claim))
            }
        } catch {
            // A claim that could not be given back ends with the connection.
            claims.withLock { $0 = nil }
        }
    }

    /// Reads the advisory locks of the kind's class.
    package func claims(_ kind: SQLClaim.Kind) async throws -> [SQLClaim] {
        try await onClaims { connection in
            try connection.run(
                """
                SELECT DISTINCT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND granted
                    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                    AND classid::bigint = $1
                """, Int(kind.rawValue)
            ).map { SQLClaim(kind, try $0[0]) }
        }
    }

    /// Locks have numbers of four bytes. Two claims with the same one exclude each other.
    private static func key(_ claim: SQLClaim) -> Int { Int(Int32(truncatingIfNeeded: claim.number)) }

    private func onClaims<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            claimQueue.async { [self] in
                continuation.resume(
                    with: Result {
                        try claims.withLock { kept in
                            do { return try body(try claimConnection(&kept)) } catch let error as PostgresError {
                                if error.isLost { kept = nil }
                                throw error
                            }
                        }
                    })
            }
        }
    }

    private func claimConnection(_ kept: inout PostgresConnection?) throws -> PostgresConnection {
        if let kept, kept.isUsable { return kept }
        let connection = try Self.usable(&kept, connect)
        // The claims of a server that stands still, or whose machine was switched off, end after seven seconds.
        do {
            try connection.execute(
                """
                SET idle_session_timeout = '7s'; SET tcp_keepalives_idle = 4; SET tcp_keepalives_interval = 1; \
                SET tcp_keepalives_count = 3
                """)
        } catch {
            kept = nil
            throw error
        }
        if !isClaimCheckScheduled.exchange(true, ordering: .relaxed) { scheduleClaimCheck() }
        return connection
    }

    private static let claimPeriod = DispatchTimeInterval.seconds(2)

    /// Uses the connection of the claims every two seconds, for as long as there is one, so that PostgreSQL does not end it.
    private func scheduleClaimCheck() {
        claimQueue.asyncAfter(deadline: .now() + Self.claimPeriod) { [weak self] in
            guard let self else { return }
            let isThere = claims.withLock { kept in
                guard let connection = kept, connection.isUsable else { return false }
                do { try connection.run("SELECT 1") } catch {
                    // Another one is made for the next claim.
                    kept = nil
                    return false
                }
                return true
            }
            if isThere { scheduleClaimCheck() } else { isClaimCheckScheduled.store(false, ordering: .relaxed) }
        }
    }

    private static func usable(
        _ kept: inout PostgresConnection?, _ connect: () throws -> PostgresConnection
    ) throws -> PostgresConnection {
        if let kept, kept.isUsable { return kept }
        kept = nil
        let connection = try connect()
        kept = connection
        return connection
    }

    /// Closes the connections of claims and of blocking reads. The others end with the object.
    package func close() {
        claims.withLock { $0 = nil }
        blocking.withLock { $0 = nil }
    }
}

/// A transaction of a PostgreSQL connection, for statements in the SQL that all databases share.
struct PostgresTransaction: SQLConnection {
    let connection: PostgresConnection

    /// The executions of one round trip.
    private static let most = 1000

    var isShared: Bool { true }

    func execute(_ sql: String, each parameters: [[SQLParameter]]) throws -> [SQLResult] {
        let text = Self.numbered(sql)
        var results: [SQLResult] = []
        for start in stride(from: 0, to: parameters.count, by: Self.most) {
            let statements = parameters[start..<min(start + Self.most, parameters.count)].map { list in
                PostgresConnection.Statement(text, list.map(Self.parameter))
            }
            results += try connection.pipeline(statements).map { SQLResult(rows: Array($0), changed: $0.changed) }
        }
        return results
    }

    private static func parameter(_ parameter: SQLParameter) -> PostgresParameter {
        switch parameter {
        case .integer(let number): PostgresParameter(number)
        case .text(let text): PostgresParameter(text)
        case .bytes(let bytes): PostgresParameter(bytes)
        case .truth(let truth): PostgresParameter(truth)
        }
    }

    /// The statement with `$1` for `?1`, and with numbers for parameters that have none.
    static func numbered(_ sql: String) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(sql.utf8.count + 16)
        var next = 1
        // The byte before is a parameter without a number as yet.
        var isOpen = false
        for byte in sql.utf8 {
            if isOpen, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
                text += String(next).utf8
                next += 1
            }
            isOpen = byte == UInt8(ascii: "?")
            text.append(isOpen ? UInt8(ascii: "$") : byte)
        }
        if isOpen { text += String(next).utf8 }
        return String(decoding: text, as: UTF8.self)
    }
}

extension PostgresRow: SQLRow {
    func integer(in column: String) throws -> Int64? { try value(column) }
    func text(in column: String) throws -> String? { try value(column) }
    func bytes(in column: String) throws -> [UInt8]? { try value(column) }
    func truth(in column: String) throws -> Bool? { try value(column) }

    private func value<Value: PostgresValue>(_ column: String) throws -> Value? {
        guard hasColumn(column) else { throw SQLColumnError(column: column) }
        return try self[column] as Value?
    }
}
