import AgentEngine
import AgentProtocol
import Foundation
import GRDB
import PushCore

/// The agent's database: arrived notifications, their states, and everything that the server has not confirmed yet.
///
/// Guarantees: a commit that returned is on disk (`synchronous=FULL`, checked at opening); the file is 0600. Used from
/// the agent's event loop only, which its commits block.
package final class AgentStore: Sendable {
    private let queue: DatabaseQueue
    /// The messages of SQLite about damage; the program that runs the agent ends it then.
    package let damage: AsyncStream<String>
    private let damaged: AsyncStream<String>.Continuation

    /// The store was found damaged while it was used. Nothing is written to it any more; it was put aside, and the agent begins a
    /// new one when it starts again.
    package struct Damaged: Error, CustomStringConvertible {
        /// The damage, in SQLite's words, and the path under which the file was put aside.
        package let reason: String, aside: String
        /// The damage, the path of the file that was put aside, and the remedy.
        package var description: String {
            "the agent's store is damaged: \(reason). It is kept as \(aside); start the agent again: it begins a new one and "
                + "enrols anew"
        }
    }

    /// Opens the store, or makes it.
    ///
    /// - Returns: The store and, when the file was damaged, where it was put aside before a new one was begun.
    /// - Throws: ``AgentStartError/store(path:reason:)``.
    package static func open(path: String, now: Timestamp) throws(AgentStartError) -> (
        store: AgentStore, aside: String?
    ) {
        do {
            return (try AgentStore(path: path), nil)
        } catch  where Self.isDamage(error) {
            do {
                let aside = try putAside(path, at: now)
                return (try AgentStore(path: path), aside)
            } catch {
                throw .store(path: path, reason: "it is damaged and cannot be put aside: \(error)")
            }
        } catch {
            throw .store(path: path, reason: "\(error)")
        }
    }

    private init(path: String) throws {
        let file = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw CocoaError(.fileWriteNoPermission) }
        fchmod(file, 0o600)
        close(file)
        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(2)
        (damage, damaged) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write(Self.check)
        let migrator = AgentSchema.migrator
        guard try !queue.read(migrator.hasBeenSuperseded) else { throw NewerDatabase() }
        try migrator.migrate(queue)
        try queue.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = FULL")
        }
        guard try synchronousLevel() == 2 else {
            throw DatabaseError(message: "SQLite does not keep synchronous=FULL")
        }
    }

    private static func check(_ database: Database) throws {
        if let verdict = try String.fetchOne(database, sql: "PRAGMA quick_check(1)"), verdict != "ok" {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: verdict)
        }
    }

    /// Looks at an agent's database, on which an agent may be running, and changes nothing.
    ///
    /// - Returns: Why it cannot be used; `nil` where it can.
    package static func fault(path: String) -> String? {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(2)
        do {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.read { database in
                try check(database)
                if try AgentSchema.migrator.hasBeenSuperseded(database) { throw NewerDatabase() }
            }
            try queue.close()
            return nil
        } catch { return "\(error)" }
    }

    /// Closes a store that was found damaged, and puts its file aside.
    ///
    /// - Returns: The message for the person who starts the agent.
    package func putAside(damagedBy reason: String, at now: Timestamp) throws -> Damaged {
        let path = queue.path
        try queue.close()
        return Damaged(reason: reason, aside: try Self.putAside(path, at: now))
    }

    /// Tells of damage that a body meets.
    private func watching<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch {
            if Self.isDamage(error) { damaged.yield((error as? DatabaseError)?.message ?? "\(error)") }
            throw error
        }
    }

    /// The database was made by an agent that knows more than this one. It is left as it is.
    private struct NewerDatabase: Error, CustomStringConvertible {
        let description =
            "it was made by a newer version of aldaba; run that one, or give this one a data folder of its own"
    }

    private static func isDamage(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return error.resultCode == .SQLITE_CORRUPT || error.resultCode == .SQLITE_NOTADB
    }

    private static func putAside(_ path: String, at now: Timestamp) throws -> String {
        let suffix = ".corrupt-" + now.description.filter { $0 != ":" }
        for part in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + part) {
            try FileManager.default.moveItem(atPath: path + part, toPath: path + part + suffix)
        }
        return path + suffix
    }

    /// The value of `PRAGMA synchronous`; 2 is FULL.
    package func synchronousLevel() throws -> Int? {
        try queue.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
    }

    /// Applies a batch of changes in their order, all or none.
    ///
    /// - Returns: The result of each change, in the same order.
    /// - Throws: when the batch is not on disk.
    package func commit(_ changes: [StoreChange]) throws -> [ChangeResult] {
        for change in changes { FaultPlan.pass(change.step, .before) }
        let results = try write { database in
            let applier = ChangeApplier(database: database)
            return try changes.map { try applier.apply($0.kind) }
        }
        for change in changes { FaultPlan.pass(change.step, .after) }
        return results
    }

    /// Runs a body in one transaction, which is undone when the body throws.
    package func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try watching { try queue.write(body) }
    }

    /// Runs a body that reads; throws what the body throws, or when the database cannot be read.
    ///
    /// Nothing changes between two of its queries: there is one connection, and nothing else enters it meanwhile. So it
    /// needs no transaction, whose statements would cost more than most queries.
    package func read<Value>(_ body: (AgentReader) throws -> Value) throws -> Value {
        try watching { try queue.unsafeRead { try body(AgentReader(database: $0)) } }
    }

    /// Keeps this device's id and secret.
    package func save(_ identity: DeviceIdentity) throws {
        try write { database in
            try database.execute(
                sql: "INSERT OR REPLACE INTO identity (one, device, secret) VALUES (1, ?, ?)",
                arguments: [Int64(identity.device.rawValue), Int64(bitPattern: identity.secret)])
        }
    }

    /// Forgets the identity and what belongs to it: device tokens, receipts, and acks that are not confirmed.
    /// Notifications stay for their apps, and a registration that its app ended stays ended.
    package func forgetIdentity() throws {
        try write { database in
            for table in ["identity", "unconfirmed", "outbox"] {
                try database.execute(sql: "DELETE FROM \(table)")
            }
            try database.execute(sql: "DELETE FROM registration WHERE token IS NOT NULL")
            // The channels are the device's: another identity needs new endpoints, and has none to end.
            try database.execute(sql: "UPDATE unified_push SET endpoint = NULL")
            try database.execute(sql: "DELETE FROM ended_channel")
        }
    }

    /// Keeps an app's registration; `nil` in place of the token where the app ended it.
    package func save(_ token: String?, app: BundleID, team: TeamID, environment: PushEnvironment) throws {
        try write { database in
            try database.execute(
                sql: "INSERT OR REPLACE INTO registration (app, environment, token, team) VALUES (?, ?, ?, ?)",
                arguments: [app, environment.rawValue, token, team.rawValue])
        }
    }

    /// Forgets the registration of an app that was removed, once the server has forgotten it.
    package func forgetRegistration(app: BundleID, environment: PushEnvironment) throws {
        try write { database in
            try database.execute(
                sql: "DELETE FROM registration WHERE app = ? AND environment = ?",
                arguments: [app, environment.rawValue])
        }
    }
}
