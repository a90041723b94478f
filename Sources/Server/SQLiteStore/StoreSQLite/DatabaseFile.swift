import Foundation
import GRDB
import PushCore

/// One of a server's databases as a file, looked at or copied without a server.
package struct DatabaseFile: Sendable {
    /// The file's path.
    package let path: String

    /// Creates a reference to a file that need not exist.
    package init(path: String) { self.path = path }

    /// Reads the whole file of a server's own database and checks that it is in order, and that its tables are not of a newer
    /// version. A server may be running on it.
    ///
    /// - Throws: ``DatabaseFault``.
    package func check() throws { _ = try SQLiteStore.inspection(path: path).begin(limit: .max) }

    /// The database that the file's name tells.
    private var database: ServerDatabase {
        ServerDatabase.allCases.first { path.hasSuffix("/" + $0.fileName) } ?? .server
    }

    /// A provider's public key that was not revoked, with its team; `nil` where the register has none with that id.
    ///
    /// - Throws: ``DatabaseFault``.
    package func providerKey(_ id: KeyID) throws -> (team: TeamID, publicKeyPEM: String)? {
        var found: (TeamID, String)?
        try withOpenDatabase { queue in
            found = try queue.read { database in
                try Row.fetchOne(
                    database, sql: "SELECT team, public_key FROM provider_key WHERE key_id = ? AND revoked_at IS NULL",
                    arguments: [id.rawValue]
                ).map { (TeamID(rawValue: $0[0]), $0[1]) }
            }
        }
        return found
    }

    /// Writes a copy as of one moment to an unused path, readable by its owner alone. A server may be running on the
    /// file, and continues writing meanwhile.
    ///
    /// The copy is one file, without a log beside it, and is on the disk when this returns.
    /// - Throws: ``DatabaseFault``, or ``StoreError`` of the copy; of one that failed nothing is left.
    package func copy(to target: String) throws {
        guard FileManager.default.createFile(atPath: target, contents: nil, attributes: [.posixPermissions: 0o600])
        else { throw StoreError.cannotOpen(path: target, reason: "the file cannot be made") }
        do {
            try withOpenDatabase { queue in
                do {
                    let copy = try DatabaseQueue(path: target)
                    try queue.backup(to: copy)
                    // The journal mode is stored in the file: the copy has the server's, but begins without a log.
                    try copy.writeWithoutTransaction { database in
                        try database.execute(sql: "PRAGMA journal_mode = DELETE")
                    }
                    try copy.close()
                } catch let error as DatabaseError where !error.isDamage {
                    throw StoreError.cannotOpen(path: target, reason: error.reason)
                }
            }
        } catch {
            for suffix in ["", "-journal", "-wal", "-shm"] { unlink(target + suffix) }
            throw error
        }
    }

    private func withOpenDatabase(_ body: (DatabaseQueue) throws -> Void) throws {
        guard FileManager.default.fileExists(atPath: path) else {
            throw DatabaseFault(database, path: path, .unusable("there is no such file"))
        }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(10)
        do {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try body(queue)
            try queue.close()
        } catch let error as StoreError {
            throw error
        } catch {
            throw DatabaseFault(database, opening: path, error)
        }
    }
}
