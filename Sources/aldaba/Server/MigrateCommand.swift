import AldabaConfiguration
import ArgumentParser
import Foundation
import PostgresStore
import PushServer
import SQLiteStore

/// `aldaba migrate`: a server's data moves to PostgreSQL, or back.
package struct MigrateCommand: AsyncParsableCommand {
    /// The name and the help.
    package static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Move a server's data to PostgreSQL, or back; the server must be stopped.",
        discussion: """
            The notifications, the register, the people of the console and the audit log move; hubs, the relay and files stay in \
            the data folder. Each row is compared after the move. What was moved stays where it was under another name.
            """)
    @Option(help: ArgumentHelp("The address of an empty database.", valueName: "url")) var toPostgres: String?
    @Flag(help: "Move back to server.sqlite.") var toSqlite = false
    @OptionGroup var location: FolderOption

    /// Made by the parser, which fills it in.
    package init() {}

    /// Requires one direction.
    package func validate() throws {
        guard (toPostgres == nil) == toSqlite else {
            throw ValidationError("name one direction: --to-postgres URL or --to-sqlite")
        }
    }

    /// Does it.
    package func run() async throws {
        let folder = location.folder
        guard try FolderStore.isThere(in: folder) else { throw ServerRegister.isNoServers(folder) }
        let lock = try DataFolder.lock(folder.serveLock)
        let count: Int
        if let toPostgres {
            guard try FolderStore.address(in: folder) == nil else {
                throw CommandError(.invalidInput, "the data of \(folder.root) is in PostgreSQL already")
            }
            count = try await Self.move(folder, to: toPostgres)
        } else {
            guard let address = try FolderStore.address(in: folder) else {
                throw CommandError(.invalidInput, "the data of \(folder.root) is in \(folder.database) already")
            }
            count = try await Self.moveBack(folder, from: address)
        }
        withExtendedLifetime(lock) {}
        print(Terminal.text("\(count) rows moved; what is there now was compared with each of them"))
    }

    private static func move(_ folder: DataFolder, to address: String) async throws -> Int {
        try KnownDatabases(folder).requireNotLost(.server)
        try requireFree(folder.database + ".moved")
        let store = try SQLiteStore(path: folder.database)
        // What is not counted yet would have to move as a table of its own.
        while try await store.countChanges(limit: 10_000).isMore {}
        let count = try refusing {
            try SQLiteTables.withTransaction(store) { source in
                try PostgresTables.withTransaction(["dbname": address]) { try move(from: source, to: $0) }
            }
        }
        try store.close()
        try FileManager.default.moveItem(atPath: folder.database, toPath: folder.database + ".moved")
        try FolderStore.bind(folder, to: address)
        return count
    }

    private static func moveBack(_ folder: DataFolder, from address: String) async throws -> Int {
        try requireFree(folder.database)
        try requireFree(folder.postgres + ".moved")
        let node = try FolderStore.open(address, as: .alone)
        while try await node.countChanges(limit: 10_000).isMore {}
        let store = try SQLiteStore(path: folder.database)
        let count: Int
        do {
            count = try refusing {
                try PostgresTables.withTransaction(["dbname": address]) { source in
                    try SQLiteTables.withTransaction(store) { try move(from: source, to: $0) }
                }
            }
            try store.close()
        } catch {
            // A new file without a row: the data is where it was.
            try? store.close()
            try? FileManager.default.removeItem(atPath: folder.database)
            throw error
        }
        try node.close()
        try KnownDatabases(folder).add(.server)
        try FileManager.default.moveItem(atPath: folder.postgres, toPath: folder.postgres + ".moved")
        return count
    }

    /// Requires that nothing is at the path of a file that the move makes.
    private static func requireFree(_ path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        throw CommandError(.invalidInput, "\(path) is there already; move it to another place first")
    }

    private static func move(from source: some TableStore, to target: some TableStore) throws -> Int {
        var count = 0
        try TableMove.move(from: source, to: target) { table, rows in
            count += rows
            if rows > 0 { Terminal.write("\(table.name): \(rows)") }
        }
        return count
    }

    /// Runs a move, and reports a refusal as invalid input.
    private static func refusing(_ body: () throws -> Int) throws -> Int {
        do { return try body() } catch let fault as TableMove.Fault { throw CommandError(.invalidInput, "\(fault)") }
    }
}
