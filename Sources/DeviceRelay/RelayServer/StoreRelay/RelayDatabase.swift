import Foundation
import Logging
import Networking
import PushServer
import RelayProtocol
import SQLiteStore
import Synchronization

/// Messages that may come with every transaction while the disk is full.
struct RelayFailureMessages: Sendable {
    let devices = RepeatedMessage("What devices told of themselves was not kept.")
    let queuedMessages = RepeatedMessage("QueuedMessages were not written or read.")
    let documents = RepeatedMessage("A document was not written or read.")
}

/// The devices of accounts, the queued messages for them, and their documents: in one SQLite file, or in the PostgreSQL database
/// of several servers.
package final class RelayDatabase: RelayRegister {
    private enum Change: Equatable {
        case keep(DeviceRow, account: [UInt8])
        case forget
    }

    private struct State {
        /// The changes that are not written yet, by device.
        var changes: [String: Change] = [:]
        var isWriting = false
    }

    let database: any SQLDatabase
    /// Whether the database can be used.
    package let health: DatabaseHealth
    /// Whether other servers use the database too.
    package let isShared: Bool
    /// The work that the writer has not done yet.
    let jobs = RelayJobs()
    private let state = Mutex(State())
    let logger: Logger
    let failures = RelayFailureMessages()

    /// Opens (or makes) the database in a file, which only its owner may read, and brings its schema up to date.
    ///
    /// - Parameter health: Notes damage that is met later; `nil` for one of its own.
    /// - Throws: ``DatabaseFault``.
    package init(path: String, health: DatabaseHealth? = nil, logger: Logger) throws {
        let health = health ?? DatabaseHealth(.relay, path: path)
        database = try SQLiteDatabase(.relay, path: path, migrator: RelaySchema.migrator, health: health)
        self.health = health
        isShared = false
        self.logger = logger
    }

    /// Uses the tables of a database that other servers may use too.
    package init(in database: any SQLDatabase, logger: Logger) {
        self.database = database
        health = DatabaseHealth(.relay, path: "")
        isShared = true
        self.logger = logger
    }

    /// Stands in the place of a database that cannot be opened: nothing is kept or read, as its health says.
    package init(unopened health: DatabaseHealth, logger: Logger) {
        database = SQLiteDatabase(unopened: health)
        self.health = health
        isShared = false
        self.logger = logger
    }

    /// An inspection of a file of this store's.
    package static func inspection(path: String) -> DatabaseInspection {
        DatabaseInspection(.relay, path: path, migrator: RelaySchema.migrator)
    }

    /// Writes what waits and closes a database of its own. One that was found damaged stays as it is.
    package func close() throws {
        guard health.fault == nil else { return }
        jobs.queue.sync {
            write()
            while runJobs() {}
        }
        if !isShared { try database.close() }
    }

    /// Logs an error, but for that of a damaged file, which is told once by whoever has noted it.
    func log(_ error: any Error, as message: RepeatedMessage) {
        if !(error is DatabaseFault) { message.log(error, to: logger) }
    }

    /// Reads an account's devices, the last seen first.
    package func devices(of account: [UInt8]) throws -> [StoredDevice] {
        // A change that is written meanwhile is in one of both.
        let changes = state.withLock { $0.changes }
        let rows = try database.readBlocking { try Self.devices(of: account, $0) }
        var found = Dictionary(rows.map { ($0.device, $0) }) { one, _ in one }
        for (device, change) in changes {
            if case .keep(let row, account) = change { found[device] = row } else { found[device] = nil }
        }
        return found.values.compactMap(\.stored).sorted { $0.seen > $1.seen }
    }

    /// Stores a device; it is written after a short delay.
    package func save(_ kept: StoredDevice, of account: [UInt8]) {
        if let row = DeviceRow(kept) { add(.keep(row, account: account), kept.device.id) }
    }

    /// Deletes a device.
    package func delete(_ device: String) { add(.forget, device) }

    private func add(_ change: Change, _ device: String) {
        let begins = state.withLock { state in
            state.changes[device] = change
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { jobs.queue.async { [self] in write() } }
    }

    /// Writes the queued changes in one transaction. They stay in memory until they are written.
    private func write() {
        let changes = state.withLock { state in
            state.isWriting = false
            return state.changes
        }
        guard !changes.isEmpty else { return }
        do {
            try database.writeBlocking { sql in
                for (device, change) in changes {
                    switch change {
                    case .keep(let row, let account): try row.write(account, sql)
                    case .forget: try sql.run("DELETE FROM relay_device WHERE device = ?", device)
                    }
                }
            }
        } catch { log(error, as: failures.devices) }
        state.withLock { state in
            for (device, change) in changes where state.changes[device] == change { state.changes[device] = nil }
        }
    }

    static func devices(of account: [UInt8], _ sql: any SQLConnection) throws -> [DeviceRow] {
        try sql.rows(
            """
            SELECT device, described, wake, seen_at FROM relay_device WHERE account = ? ORDER BY seen_at DESC LIMIT 64
            """, account
        ).map { try DeviceRow($0) }
    }
}

/// A device in its stored form.
struct DeviceRow: Hashable, Sendable {
    var device: String
    var described: [UInt8]
    var wake: [UInt8]?
    var seen: Int64

    /// - Returns: `nil` for a device that cannot be encoded.
    init?(_ kept: StoredDevice) {
        // A description that came in a frame can be encoded; the directory has bounded its size.
        guard let described = try? kept.device.encoded() else { return nil }
        device = kept.device.id
        self.described = described
        // A channel is bounded too; without it the device is not woken.
        wake = kept.wake.flatMap { try? $0.encoded() }
        seen = kept.seen
    }

    init(_ row: any SQLRow) throws {
        device = try row["device"]
        described = try row["described"]
        wake = try row["wake"]
        seen = try row["seen_at"]
    }

    /// The device; `nil` for one that a later version wrote, which is ignored.
    var stored: StoredDevice? {
        (try? RelayDevice(described)).map { device in
            StoredDevice(device: device, seen: seen, wake: wake.flatMap { try? RelayWakeChannel.read($0) })
        }
    }

    func write(_ account: [UInt8], _ sql: any SQLConnection) throws {
        try sql.run(
            """
            INSERT INTO relay_device (device, account, described, wake, seen_at) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (device) DO UPDATE SET account = excluded.account, described = excluded.described,
                wake = excluded.wake, seen_at = excluded.seen_at
            """, device, account, described, wake, seen)
    }
}
