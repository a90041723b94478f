import AldabaConfiguration
import Foundation
import Glibc
import SQLiteStore

/// The databases that a data folder has had, as its file `databases` names them.
///
/// A database of them that is missing or empty later was lost; no new one is made unless `--new-database` names it.
package struct KnownDatabases: Sendable {
    private let folder: DataFolder

    /// The databases of a folder that need not exist.
    package init(_ folder: DataFolder) { self.folder = folder }

    /// The path of a database's file.
    package func path(of database: ServerDatabase) -> String { "\(folder.root)/\(database.fileName)" }

    /// Inspects a database before it is opened.
    ///
    /// - Parameter inspection: Makes the inspection of a file at a path.
    /// - Returns: Whether the file was read whole, which a large one is not; `true` also where there is none yet.
    /// - Throws: ``DatabaseFault`` where it was lost, or is damaged; what the file system says.
    package func inspect(
        _ database: ServerDatabase, _ inspection: (String) -> DatabaseInspection
    ) throws -> Bool {
        try requireNotLost(database)
        guard size(of: path(of: database)) ?? 0 > 0 else { return true }
        do {
            return try inspection(path(of: database)).begin()
        } catch {
            // A first start may have ended before it made the tables.
            guard error.kind == .empty, try !storedDatabases().contains(database) else { throw error }
            return true
        }
    }

    /// Requires that a database is new or still there.
    ///
    /// - Throws: ``DatabaseFault`` where the folder has had the database, and its file is missing or empty.
    package func requireNotLost(_ database: ServerDatabase) throws {
        let path = path(of: database)
        let size = size(of: path)
        guard size ?? 0 == 0 else { return }
        // SQLite would throw away a log that lies beside an empty file.
        guard try storedDatabases().contains(database) || self.size(of: path + "-wal") ?? 0 > 0 else { return }
        throw DatabaseFault(database, path: path, size == nil ? .missing : .empty)
    }

    /// Records that the folder has a database, which has tables by now.
    package func add(_ database: ServerDatabase) throws {
        let stored = try storedDatabases()
        guard try !stored.contains(database) || PrivateFile.text(folder.databaseList) == nil else { return }
        try write(stored.union([database]))
    }

    /// Lets databases that were lost be begun anew. What is left of one, its log for one, is put aside; one that has its file
    /// stays as it is.
    package func beginAnew(_ databases: [ServerDatabase]) throws {
        let lost = databases.filter { size(of: path(of: $0)) ?? 0 == 0 }
        guard !lost.isEmpty else { return }
        for database in lost { try Self.putAside(path(of: database)) }
        try write(try storedDatabases().subtracting(lost))
    }

    /// Renames a database's files, so that nothing of them is lost and a new file can take their place.
    ///
    /// - Returns: The new path of the database's file.
    @discardableResult
    package static func putAside(_ path: String, at now: Date = Date()) throws(PrivateFile.Failure) -> String {
        let aside = "\(path).aside-\(Int(now.timeIntervalSince1970))"
        for suffix in ["-wal", "-shm", ""] where rename(path + suffix, aside + suffix) != 0 && errno != ENOENT {
            throw PrivateFile.Failure(action: "put aside", path: path + suffix, code: errno)
        }
        return aside
    }

    private func write(_ databases: Set<ServerDatabase>) throws {
        let lines = databases.map(\.fileName).sorted().map { $0 + "\n" }.joined()
        try PrivateFile.write(Array(lines.utf8), to: folder.databaseList)
    }

    private func storedDatabases() throws -> Set<ServerDatabase> {
        if let text = try PrivateFile.text(folder.databaseList) {
            let names = Set(text.split(separator: "\n").map(String.init))
            return Set(ServerDatabase.allCases.filter { names.contains($0.fileName) })
        }
        // A folder of an earlier version has no list. Its other databases, and the key of device tokens, were made after the
        // register.
        let others = [ServerDatabase.hub, .relay].filter { size(of: path(of: $0)) != nil }
        return Set(others + (others.isEmpty && size(of: folder.sealingKeys) == nil ? [] : [.server]))
    }

    /// How long a file is; `nil` where there is none.
    private func size(of path: String) -> Int64? {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }
}
