import AldabaConfiguration
import ArgumentParser
import Foundation
import Glibc
import PushServer
import SQLiteStore

/// `aldaba backup`: a copy of a server's data while it runs.
package struct BackupCommand: ParsableCommand {
    /// The name and the help.
    package static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy a server's data into a new folder; the server may be running.",
        discussion: """
            The copy has the database as of one moment, the keys of device tokens and providers, the certificates and the \
            files of notifications. Whoever has it can be the server: keep it as you keep the data folder.
            """)
    @Argument(help: "The folder of the copy; it must not exist, or be empty.") var folder: String
    @OptionGroup var location: FolderOption

    /// Made by the parser, which fills it in.
    package init() {}

    /// Does it.
    package func run() throws {
        let backup = FolderBackup(root: folder)
        if try FolderStore.address(in: location.folder) != nil {
            throw CommandError(
                .invalidInput,
                "the data of \(location.folder.root) is in PostgreSQL; copy that with pg_dump, and the folder as it is")
        }
        // A backup that lacks a database would be taken for one that has all.
        let known = KnownDatabases(location.folder)
        for database in ServerDatabase.allCases { try known.requireNotLost(database) }
        try Backups.refusing {
            try backup.make(of: location.folder) { try Backups.copy($0, $1) }
        }
        print(Terminal.text("\(location.folder.root) is copied to \(backup.root)"))
    }
}

/// `aldaba restore`: a data folder as `backup` copied it.
package struct RestoreCommand: AsyncParsableCommand {
    /// The name and the help.
    package static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Create a data folder from a backup.",
        discussion: """
            The data folder must not exist, or be empty. The server that begins there takes the same device tokens, keys and \
            certificates. What was accepted after the backup is not there.

            With --only hub or --only relay that database alone is put into a data folder in use, whose server is stopped. The \
            file in its place is kept under another name.
            """)
    @Argument(help: "The folder that `aldaba backup` made.") var folder: String
    @Option(help: ArgumentHelp("Restore this database alone: hub or relay.", valueName: "name")) var only: String?
    @OptionGroup var location: FolderOption

    /// Made by the parser, which fills it in.
    package init() {}

    /// Refuses what cannot be restored alone.
    package func validate() throws {
        guard let only, only != ServerDatabase.hub.rawValue, only != ServerDatabase.relay.rawValue else { return }
        throw ValidationError(
            "--only takes hub or relay; the server's own database belongs to the rest: restore all into an empty folder"
        )
    }

    /// Does it.
    package func run() async throws {
        let backup = FolderBackup(root: folder)
        if let database = only.flatMap(ServerDatabase.init) {
            try Backups.refusing {
                try backup.restore(
                    only: database.fileName, to: location.folder, putAside: { try KnownDatabases.putAside($0) },
                    database: { try Backups.copy($0, $1) })
            }
            try await recordInAuditLog(of: database.fileName)
            return print(Terminal.text("\(database.fileName) of \(backup.root) is restored to \(location.folder.root)"))
        }
        try Backups.refusing {
            try backup.restore(
                to: location.folder, check: { try DatabaseFile(path: $0).check() },
                database: { try Backups.copy($0, $1) })
        }
        try await recordInAuditLog(of: "all")
        print(Terminal.text("\(backup.root) is restored to \(location.folder.root)"))
    }

    /// Adds the entry to the log of the restored folder: what was restored, and from where.
    private func recordInAuditLog(of part: String) async throws {
        do {
            try await ServerRegister.changing(
                location.folder, AuditChange(.restoreBackup, part), after: { AuditedObject(["backup": folder]) }
            ) { _ in }
        } catch {
            throw CommandError(.partlyDone, "the change was made, but the audit log does not say so: \(error)")
        }
    }
}

private enum Backups {
    /// Copies a database, and shows how far that is.
    static func copy(_ from: String, _ to: String) throws {
        let meter = ProgressMeter("copying \(from)", total: size(from), unit: .bytes)
        try ProgressBar.during(meter, done: { size(to) }) { _ in try DatabaseFile(path: from).copy(to: to) }
    }

    private static func size(_ path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Runs a backup operation, and reports a refusal as invalid input.
    static func refusing(_ body: () throws -> Void) throws {
        do { try body() } catch let refusal as FolderBackup.Refusal {
            throw CommandError(.invalidInput, "\(refusal)")
        }
    }
}
