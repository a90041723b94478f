import AldabaConfiguration
import ArgumentParser
import Foundation
import HubServer
import Logging
import Platform
import PostgresStore
import PushServer
import RelayServer
import SQLiteStore

/// `aldaba migrate`: a server's data moves to PostgreSQL, or back.
package struct MigrateCommand: AsyncParsableCommand {
    /// The name and the help.
    package static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Move a server's data to PostgreSQL, or back.",
        discussion: """
            The notifications, the register, the hubs, the relay, the people of the console and the audit log move; files \
            stay in the data folder. Each row is compared after the move. What was moved stays where it was under another name.

            The server must be stopped, unless --stop-server is given: then the data are copied while it runs, the server is \
            stopped, and what has changed meanwhile is moved.
            """)
    @Option(help: ArgumentHelp("The address of an empty database.", valueName: "url")) var toPostgres: String?
    @Flag(help: "Move back to server.sqlite, hub.sqlite and relay.sqlite.") var toSqlite = false
    @Flag(help: "Copy the data while the server runs, and stop it for what has changed meanwhile.") var stopServer =
        false
    @OptionGroup var location: FolderOption

    /// Made by the parser, which fills it in.
    package init() {}

    /// Requires one direction.
    package func validate() throws {
        guard (toPostgres == nil) == toSqlite else {
            throw ValidationError("name one direction: --to-postgres URL or --to-sqlite")
        }
        guard !(toSqlite && stopServer) else {
            throw ValidationError("stop the server first; --stop-server goes with --to-postgres")
        }
    }

    /// Does it.
    package func run() async throws {
        let folder = location.folder
        guard try FolderStore.isThere(in: folder) else { throw ServerRegister.isNoServers(folder) }
        guard let toPostgres else {
            let lock = try DataFolder.lock(folder.serveLock)
            guard let address = try FolderStore.address(in: folder) else {
                throw CommandError(.invalidInput, "the data of \(folder.root) is in \(folder.database) already")
            }
            let count = try await Self.moveBack(folder, from: address)
            withExtendedLifetime(lock) {}
            return Self.report(count)
        }
        guard try FolderStore.address(in: folder) == nil else {
            throw CommandError(.invalidInput, "the data of \(folder.root) is in PostgreSQL already")
        }
        try Self.move(folder, to: toPostgres, server: stopServer ? DataFolder.holder(ofLock: folder.serveLock) : nil)
    }

    private static func report(_ count: Int) {
        print(Terminal.text("\(count) rows moved; what is there now was compared with each of them"))
    }

    /// Moves the data.
    ///
    /// - Parameter server: The process of a server that runs, and is stopped; `nil` for a server that is stopped already.
    private static func move(_ folder: DataFolder, to address: String, server: Int32?) throws {
        var lock = server == nil ? try DataFolder.lock(folder.serveLock) : nil
        for database in ServerDatabase.allCases { try KnownDatabases(folder).requireNotLost(database) }
        for path in Self.files(of: folder) { try requireFree(path + ".moved") }
        let store = try SQLiteStore(path: folder.database)
        let files = try Self.open(folder)
        var move = TableMove(remembersRows: server != nil)
        // What is not counted yet would have to move as a table of its own.
        if server == nil { try store.countAllChanges(slice: countedSlice) }
        var stopped: ContinuousClock.Instant?
        // From the commit on, an error does not mean that nothing was moved.
        var isEnding = false
        do {
            try refusing {
                let target = try PostgresTables.begin(["dbname": address])
                if let server {
                    try files.withSnapshot { try move.copy(from: $0, to: target, report: report) }
                    try stop(server)
                    stopped = .now
                    lock = try waitForLock(folder)
                    try store.countAllChanges(slice: countedSlice)
                }
                try files.withTransaction { source in
                    if server == nil {
                        try move.copy(from: source, to: target, report: report)
                    } else {
                        try target.apply(try move.findChanges(in: source), from: source, move.digests)
                    }
                    isEnding = true
                    try target.commit()
                    // A command that waits for this transaction finds that the data moved.
                    try FolderStore.setAddress(address, in: folder)
                }
            }
        } catch {
            if stopped != nil, !isEnding {
                Terminal.write(Terminal.text("the server was stopped, and nothing was moved; start it as before"))
            }
            throw error
        }
        try files.close()
        try store.close()
        for path in Self.files(of: folder).reversed() {
            try FileManager.default.moveItem(atPath: path, toPath: path + ".moved")
        }
        withExtendedLifetime(lock) {}
        report(move.count)
        guard let stopped else { return }
        let seconds = String(format: "%.1f", Double((ContinuousClock.now - stopped) / .milliseconds(1)) / 1000)
        print(Terminal.text("the server has been stopped for \(seconds) seconds; start it with the setting postgres"))
    }

    /// The paths of the folder's databases, the server's own first.
    private static func files(of folder: DataFolder) -> [String] {
        [folder.database, folder.hubDatabase, folder.relayDatabase]
    }

    /// The folder's databases; those of hubs and relay are made where there are none.
    private static func open(_ folder: DataFolder) throws -> SQLiteTables.Files {
        try HubDatabase(path: folder.hubDatabase).close()
        try RelayDatabase(path: folder.relayDatabase, logger: Logger(label: "aldaba")).close()
        return try SQLiteTables.Files(
            server: folder.database, hubs: folder.hubDatabase, relay: folder.relayDatabase)
    }

    private static let countedSlice = 10_000
    private static let stopTimeout = Duration.seconds(60)

    /// Has a server end.
    private static func stop(_ server: Int32) throws {
        // The number in the file may be that of another system's process, such as a container's.
        let program: String
        do { program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(server)/exe") } catch {
            let reason = (error as NSError).localizedDescription
            throw CommandError(.invalidInput, "process \(server) cannot be stopped: \(reason); nothing was moved")
        }
        guard server != getpid(), program.split(separator: "/").last?.hasPrefix("aldaba") == true else {
            throw CommandError(
                .invalidInput,
                "process \(server) is not the server, which may run in a container; stop it, and move without --stop-server"
            )
        }
        Terminal.write(Terminal.text("the copy is complete; process \(server) is stopped now"))
        guard kill(server, SIGTERM) == 0 || errno == ESRCH else {
            throw CommandError(
                .invalidInput,
                "process \(server) cannot be stopped: \(String(cString: strerror(errno))); nothing was moved")
        }
    }

    /// Takes the folder of a server that ends.
    private static func waitForLock(_ folder: DataFolder) throws -> FolderLock {
        let begin = ContinuousClock.now
        while true {
            do { return try DataFolder.lock(folder.serveLock) } catch {
                guard ContinuousClock.now - begin < stopTimeout else { throw error }
                // The system has no notice of another process's lock.
                usleep(10_000)
            }
        }
    }

    private static func report(_ table: StoredTable, _ rows: Int) {
        if rows > 0 { Terminal.write("\(table.name): \(rows)") }
    }

    private static func moveBack(_ folder: DataFolder, from address: String) async throws -> Int {
        for path in Self.files(of: folder) + [folder.postgres + ".moved"] { try requireFree(path) }
        let node = try FolderStore.open(address, as: .alone)
        while try await node.countChanges(limit: countedSlice).isMore {}
        var move = TableMove(remembersRows: false)
        do {
            try SQLiteStore(path: folder.database).close()
            let files = try Self.open(folder)
            try refusing {
                try PostgresTables.withTransaction(["dbname": address]) { source in
                    try files.withTransaction { try move.copy(from: source, to: $0, report: report) }
                }
            }
            try files.close()
        } catch {
            // New files without a row, whose names were free: the data is where it was. One that stays is refused next time.
            for path in Self.files(of: folder) { try? FileManager.default.removeItem(atPath: path) }
            throw error
        }
        try node.close()
        for database in ServerDatabase.allCases { try KnownDatabases(folder).add(database) }
        try FileManager.default.moveItem(atPath: folder.postgres, toPath: folder.postgres + ".moved")
        return move.count
    }

    /// Requires that nothing is at the path of a file that the move makes.
    private static func requireFree(_ path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        throw CommandError(.invalidInput, "\(path) is there already; move it to another place first")
    }

    /// Runs a move, and reports a refusal as invalid input.
    private static func refusing(_ body: () throws -> Void) throws {
        do { try body() } catch let fault as TableMove.Fault { throw CommandError(.invalidInput, "\(fault)") }
    }
}
