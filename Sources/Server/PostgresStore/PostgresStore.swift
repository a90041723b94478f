import PushCore
import PushServer

/// The server's store in a PostgreSQL database.
///
/// A server that is alone refuses a second one on the same database. Servers that are nodes use it together.
package final class PostgresStore: Sendable {
    /// The part that a program has in a database.
    package enum Role: Hashable, Sendable {
        /// The only server.
        case alone
        /// A server that shares the database with others, under a number of its own.
        case node
        /// A program that does not change mailboxes.
        case command
    }

    let mailboxes: PostgresWriter?
    /// The number of the node; 0 for a program that is none.
    package let node: UInt16
    /// A number that no other run of the node has.
    let run: Int64
    /// The version of the program, as other nodes see it.
    let program: String
    let pool: PostgresPool
    /// The writer for changes that may come by the thousand, each independent of the others.
    let grouped: GroupedWrites<PostgresConnection>
    /// The register, in the same database.
    package let register: PostgresRegister
    /// The tables of the notification hubs, in the same database.
    package let hubs: PostgresDatabase
    /// The tables of device relay, in the same database.
    package let relay: PostgresDatabase
    /// The tables about the files of notifications, in the same database.
    package let media: PostgresDatabase
    /// The people of the console, in the same database.
    package var people: PostgresPeople { PostgresPeople(pool: pool) }
    /// The state and the secrets that the servers of the database share.
    package var cluster: PostgresCluster { PostgresCluster(store: self) }
    /// The audit log, in the same database.
    package var audit: PostgresAudit { PostgresAudit(pool: pool) }

    /// Connects, and makes the tables where there are none.
    ///
    /// - Parameters:
    ///   - parameters: The connection's parameters, as libpq names them; `dbname` may be a URL with all of them.
    ///   - role: The part of the program.
    ///   - program: The version of the program, as other nodes see it.
    ///   - now: The time, for the partitions of the next days.
    ///   - numberLost: Called once where another node has this node's number: the process has to end.
    /// - Throws: ``PostgresError``; ``PostgresSchema/OtherVersion``; ``UnsafeSetting``; `DatabaseInUseError`.
    package init(
        _ parameters: [String: String], as role: Role = .alone, program: String = "", at now: Timestamp,
        numberLost: @escaping @Sendable () -> Void = {}
    ) throws {
        let connect: @Sendable () throws -> PostgresConnection = { try Self.connection(parameters) }
        let first = try connect()
        try Self.check(first)
        try PostgresSchema.migrate(first)
        try PostgresDays(connection: first).make(at: now)
        mailboxes =
            role == .command
            ? nil : try PostgresWriter(isAlone: role == .alone, numberLost: numberLost, connect: connect)
        node = mailboxes?.node ?? 0
        run = now.rawValue
        self.program = program
        pool = PostgresPool(connect: connect)
        grouped = Self.grouped(pool)
        register = try PostgresRegister(pool: pool, version: first, connect: connect)
        hubs = PostgresDatabase(schema: PostgresSchema.hubSchema, connect: connect)
        relay = PostgresDatabase(schema: PostgresSchema.relaySchema, connections: 1, connect: connect)
        media = PostgresDatabase(schema: PostgresSchema.mediaSchema, connections: 1, connect: connect)
    }

    private static func grouped(_ pool: PostgresPool) -> GroupedWrites<PostgresConnection> {
        GroupedWrites(
            transaction: { body in try await pool.write(body) },
            part: { connection, body in
                try connection.execute("SAVEPOINT change")
                do {
                    try body()
                    try connection.execute("RELEASE SAVEPOINT change")
                    return nil
                } catch let error as PostgresError where error.isLost || error.isDeadlock {
                    // The whole transaction is undone, and is tried again.
                    throw error
                } catch {
                    try connection.execute("ROLLBACK TO SAVEPOINT change; RELEASE SAVEPOINT change")
                    return error
                }
            })
    }

    /// The connection of the mailboxes.
    ///
    /// - Throws: In a program that is no node.
    var writer: PostgresWriter {
        get throws {
            guard let mailboxes else {
                throw PostgresError(code: nil, message: "this program does not change mailboxes")
            }
            return mailboxes
        }
    }

    /// The process of the server for the connection of the mailboxes, by which its work is measured.
    package var mailboxProcess: Int32 { get throws { try writer.read { $0.processID } } }

    /// A connection to the primary, whose calls have ends.
    package static func connection(_ parameters: [String: String]) throws -> PostgresConnection {
        let connection = try PostgresConnection(
            parameters.merging(["target_session_attrs": "read-write"]) { own, _ in own })
        // Statements are short. Compiling one whose cost is guessed too high takes a second.
        try connection.execute(
            """
            SET statement_timeout = '9s'; SET lock_timeout = '8s'; SET idle_in_transaction_session_timeout = '30s'; \
            SET jit = off
            """)
        return connection
    }

    /// A setting of the server under which the store would not work, or something accepted could be lost.
    package struct UnsafeSetting: Error, Hashable, CustomStringConvertible {
        /// The setting, its value, and what would be right.
        package var description: String
    }

    private static func check(_ connection: PostgresConnection) throws {
        let faults = try PostgresInspection(of: connection).faults
        // A test's server may do without fsync. These two are refused always.
        guard let fault = faults.first(where: { ["synchronous_commit", "version"].contains($0.setting) }) else {
            return
        }
        throw UnsafeSetting(description: fault.description)
    }

    /// Closes the connection of the mailboxes, which gives the node's number back.
    ///
    /// - Throws: ``PostgresError`` where the other nodes could not be told; they notice it after some seconds.
    package func close() throws {
        defer {
            mailboxes?.close()
            hubs.close()
        }
        try endRun()
    }

    /// Makes the changes in one transaction; an empty list costs none.
    ///
    /// - Throws: ``PostgresError``; then none of the changes has happened, unless the outcome of the commit is unknown.
    package func apply(_ changes: [RowChange]) throws {
        guard !changes.isEmpty else { return }
        try writer.commit(BatchStatements(FoldedBatch(changes)).all)
    }

    /// Prunes a slice, and drops the days of which nothing is left to prune; makes the partitions of the next days.
    package func prune(
        timelinesBefore: Timestamp, payloadsBefore: Timestamp, now: Timestamp, limit: Int
    ) throws -> Bool {
        let isMore = try writer.transaction { connection in
            try PostgresRetention(connection: connection).prune(
                timelinesBefore: timelinesBefore, payloadsBefore: payloadsBefore, now: now, limit: limit)
        }
        try writer.read { connection in
            try PostgresDays(connection: connection).make(at: now)
            try PostgresRetention(connection: connection).dropDays(before: timelinesBefore)
        }
        return isMore
    }
}

extension PostgresStore: ServerStore {}
