import AldabaConfiguration
import Foundation
import PostgresStore
import PushServer
import SQLiteStore

/// The store of a data folder: the folder's own database, or the PostgreSQL database that a file in the folder names.
enum FolderStore {
    /// The address of the folder's PostgreSQL database, as libpq takes it; `nil` for a folder with a database of its own.
    static func address(in folder: DataFolder) throws -> String? {
        try PrivateFile.secret(folder.postgres, limit: 4096)?.wrappedValue.trimmingCharacters(
            in: .whitespacesAndNewlines)
    }

    /// Has the folder name a database before a server begins, so that commands beside the server find it.
    ///
    /// - Parameter address: The setting `postgres`; `nil` for the folder's own database.
    /// - Throws: ``CommandError`` where the folder has its data elsewhere.
    static func bind(_ folder: DataFolder, to address: String?) throws {
        let known = try self.address(in: folder)
        guard let address else {
            guard known == nil else {
                throw CommandError(
                    .invalidInput,
                    "the data of \(folder.root) is in PostgreSQL; set postgres as before, or name another data folder")
            }
            return
        }
        guard known == address || !FileManager.default.fileExists(atPath: folder.database) else {
            throw CommandError(
                .invalidInput,
                "\(folder.root) has its data in \(folder.database); move it with `aldaba migrate`, or name another data folder"
            )
        }
        if known != address { try setAddress(address, in: folder) }
    }

    /// Has the folder name its PostgreSQL database.
    static func setAddress(_ address: String, in folder: DataFolder) throws {
        try PrivateFile.write(Array((address + "\n").utf8), to: folder.postgres)
    }

    /// Whether the folder has the data of a server.
    static func isThere(in folder: DataFolder) throws -> Bool {
        if try address(in: folder) != nil { return true }
        return FileManager.default.fileExists(atPath: folder.database)
    }

    /// Opens the store for a command beside a server that may be running; makes it where there never was one.
    static func open(_ folder: DataFolder) throws -> any ServerStore {
        if let address = try address(in: folder) { return try open(address, as: .command) }
        try KnownDatabases(folder).requireNotLost(.server)
        let store = try SQLiteStore(path: folder.database)
        try KnownDatabases(folder).add(.server)
        return store
    }

    /// Opens a PostgreSQL database.
    ///
    /// - Parameters:
    ///   - address: The address, as libpq takes it.
    ///   - role: The part of the program.
    ///   - numberLost: Called once where another server has this server's number.
    static func open(
        _ address: String, as role: PostgresStore.Role, numberLost: @escaping @Sendable () -> Void = {}
    ) throws -> PostgresStore {
        try PostgresStore(
            ["dbname": address], as: role, program: AldabaVersion.number, at: presentTime(), numberLost: numberLost)
    }
}
