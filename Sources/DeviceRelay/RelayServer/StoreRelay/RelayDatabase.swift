import Foundation
import GRDB
import Logging
import Networking
import RelayProtocol
import SQLiteStore
import Synchronization

/// Messages that may come with every transaction while the disk is full.
struct RelayFailureMessages: Sendable {
    let devices = RepeatedMessage("What devices told of themselves was not kept.")
    let queuedMessages = RepeatedMessage("QueuedMessages were not written or read.")
    let documents = RepeatedMessage("A document was not written or read.")
}

/// The devices of accounts, and the queued messages for them, in one SQLite file.
package final class RelayDatabase: RelayRegister {
    private enum Change {
        case keep(Kept, account: [UInt8])
        case forget
    }

    /// A device in its stored form.
    private struct Kept: Equatable {
        var described: [UInt8]
        var wake: [UInt8]?
        var seen: Int64
    }

    private struct State {
        /// The changes that are not written yet, by device.
        var changes: [String: Change] = [:]
        var isWriting = false
    }

    let queue: WatchedDatabase<DatabaseQueue>
    /// The work on queued messages that the writer has not done yet.
    let queuedMessageJobs: QueuedMessageJobs
    private let state = Mutex(State())
    let logger: Logger
    let failures = RelayFailureMessages()

    /// Opens (or makes) the database, which only its owner may read, and brings its schema up to date.
    ///
    /// - Parameter health: Notes damage that is met later; `nil` for one of its own.
    /// - Throws: ``DatabaseFault``.
    package init(path: String, health: DatabaseHealth? = nil, logger: Logger) throws {
        let health = health ?? DatabaseHealth(.relay, path: path)
        try ServerDatabase.relay.makeFile(at: path)
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase {
            try $0.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -4096")
        }
        self.logger = logger
        do {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            guard try !queue.read(RelaySchema.migrator.hasBeenSuperseded) else {
                throw DatabaseFault(.relay, path: path, .newer)
            }
            try RelaySchema.migrator.migrate(queue)
            queuedMessageJobs = QueuedMessageJobs(
                lastNumber: try queue.read { try Int64.fetchOne($0, sql: "SELECT max(number) FROM relay_letter") ?? 0 })
            self.queue = WatchedDatabase(queue, health)
        } catch { throw DatabaseFault(.relay, opening: path, error) }
    }

    /// Stands in the place of a database that cannot be opened: nothing is kept or read, as its health says.
    package init(unopened health: DatabaseHealth, logger: Logger) {
        queue = WatchedDatabase(unopened: health)
        queuedMessageJobs = QueuedMessageJobs(lastNumber: 0)
        self.logger = logger
    }

    /// An inspection of a file of this store's.
    package static func inspection(path: String) -> DatabaseInspection {
        DatabaseInspection(.relay, path: path, migrator: RelaySchema.migrator)
    }

    /// Whether the database can be used.
    package var health: DatabaseHealth { queue.health }

    /// Writes what waits and closes the file. One that was found damaged stays as it is.
    package func close() throws {
        guard health.fault == nil else { return }
        write()
        while runQueuedMessageJobs() {}
        try queue.sound().close()
    }

    /// Reads an account's devices, the last seen first.
    package func devices(of account: [UInt8]) throws -> [StoredDevice] {
        let rows = try queue.read { database in
            try Row.fetchAll(
                database,
                sql:
                    """
                    SELECT device, described, wake, seen_at FROM relay_device WHERE account = ?
                    ORDER BY seen_at DESC LIMIT 64
                    """,
                arguments: [Data(account)])
        }
        var found: [String: Kept] = [:]
        for row in rows {
            found[row["device"]] = Kept(
                described: [UInt8](row["described"] as Data), wake: (row["wake"] as Data?).map { [UInt8]($0) },
                seen: row["seen_at"])
        }
        for (device, change) in state.withLock({ $0.changes }) {
            if case .keep(let kept, account) = change { found[device] = kept } else { found[device] = nil }
        }
        // A device written by a later version is ignored.
        return found.values.compactMap { kept in
            (try? RelayDevice(kept.described)).map { device in
                StoredDevice(
                    device: device, seen: kept.seen, wake: kept.wake.flatMap { try? RelayWakeChannel.read($0) })
            }
        }.sorted { $0.seen > $1.seen }
    }

    /// Stores a device; it is written after a short delay.
    package func keep(_ kept: StoredDevice, of account: [UInt8]) {
        guard let bytes = try? kept.device.encoded() else { return }
        let wake = kept.wake.flatMap { try? $0.encoded() }
        add(.keep(Kept(described: bytes, wake: wake, seen: kept.seen), account: account), kept.device.id)
    }

    /// Deletes a device.
    package func forget(_ device: String) { add(.forget, device) }

    private func add(_ change: Change, _ device: String) {
        let begins = state.withLock { state in
            state.changes[device] = change
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { onQueue { $0.write() } }
    }

    /// Has something done on the database's thread; at once where nothing is written any more.
    func onQueue(_ body: @escaping @Sendable (RelayDatabase) -> Void) {
        let queue: DatabaseQueue
        do { queue = try self.queue.sound() } catch { return body(self) }
        queue.asyncWriteWithoutTransaction { [self] _ in body(self) }
    }

    /// Writes the queued changes in one transaction. They stay in memory until they are written.
    private func write() {
        let changes = state.withLock { state in
            state.isWriting = false
            return state.changes
        }
        guard !changes.isEmpty else { return }
        do {
            try queue.unsafeReentrantWrite { database in
                try database.inTransaction(.immediate) {
                    for (device, change) in changes { try Self.write(change, of: device, to: database) }
                    return .commit
                }
            }
        } catch is DatabaseFault {
            // That is told once, by whoever has noted it.
        } catch {
            failures.devices.log(error, to: logger)
        }
        state.withLock { state in
            for (device, change) in changes where Self.isSame(state.changes[device], change) {
                state.changes[device] = nil
            }
        }
    }

    private static func isSame(_ one: Change?, _ other: Change) -> Bool {
        switch (one, other) {
        case (.forget, .forget): true
        case (.keep(let one, let account), .keep(let two, let other)): one == two && account == other
        default: false
        }
    }

    private static func write(_ change: Change, of device: String, to database: Database) throws {
        switch change {
        case .keep(let kept, let account):
            try database.execute(
                sql: """
                    INSERT OR REPLACE INTO relay_device (device, account, described, wake, seen_at)
                    VALUES (?, ?, ?, ?, ?)
                    """,
                arguments: [device, Data(account), Data(kept.described), kept.wake.map { Data($0) }, kept.seen])
        case .forget:
            try database.execute(sql: "DELETE FROM relay_device WHERE device = ?", arguments: [device])
        }
    }
}
