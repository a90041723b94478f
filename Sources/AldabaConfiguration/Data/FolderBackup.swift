import Foundation
import Glibc
import Platform

/// A copy of a server's data in a folder of its own: its database, that of its hubs, and the files that these depend
/// on.
package struct FolderBackup: Sendable {
    /// The path of the copy, which may not exist yet.
    package let root: String

    /// Names a backup's folder, which need not exist.
    package init(root: String) { self.root = DataFolder(root: root).root }

    /// Why a backup is not made or not restored: in a sentence, with what would be right.
    package struct Refusal: Error, CustomStringConvertible {
        /// The sentence.
        package var description: String
    }

    /// The copied database.
    package var database: String { layout.database }

    private var layout: DataFolder { DataFolder(root: root) }

    /// Copies a data folder into a new folder, which appears complete or not at all. A server may be running on the
    /// data folder.
    ///
    /// - Parameter database: Copies a database from the first path to the second. It is called first: later additions
    ///   to the server are then in the files and not in the database, where nothing refers to them.
    /// - Throws: ``Refusal`` where the folder holds something, or the data folder has no server's data.
    package func make(of data: DataFolder, database: (String, String) throws -> Void) throws {
        guard access(data.database, F_OK) == 0, access(data.sealingKeys, F_OK) == 0 else {
            throw Refusal(
                description:
                    "\(data.root) is no server's data folder; name one with --data, or begin one with `aldaba up`")
        }
        try Self.requireEmpty(root, "a backup", remedy: "name a folder that does not exist yet")
        let unfinished = FolderBackup(root: "\(root).unfinished-\(getpid())")
        do {
            try PrivateFile.makeFolder(unfinished.root)
            try database(data.database, unfinished.database)
            if access(data.hubDatabase, F_OK) == 0 {
                try database(data.hubDatabase, unfinished.layout.hubDatabase)
            }
            if access(data.relayDatabase, F_OK) == 0 {
                try database(data.relayDatabase, unfinished.layout.relayDatabase)
            }
            try data.copyFiles(to: unfinished.layout)
            try Self.sync(unfinished.root)
            guard rename(unfinished.root, root) == 0 else {
                throw PrivateFile.Failure(action: "write", path: root, code: errno)
            }
        } catch {
            try? FileManager.default.removeItem(atPath: unfinished.root)
            throw error
        }
        try Self.sync(URL(fileURLWithPath: root).deletingLastPathComponent().path)
    }

    /// Copies the backup into an empty data folder, the database last: a folder in which it is missing is no data
    /// folder.
    ///
    /// - Parameters:
    ///   - check: Throws when the server's database at a path is not fit for use; called before anything is made.
    ///   - database: Copies a database from the first path to the second.
    /// - Throws: ``Refusal`` where this is no backup, or the data folder is in use or holds something.
    package func restore(
        to data: DataFolder, check: (String) throws -> Void, database: (String, String) throws -> Void
    ) throws {
        guard access(self.database, F_OK) == 0, access(layout.sealingKeys, F_OK) == 0 else {
            throw Refusal(description: "\(root) is no backup: `aldaba backup` makes one")
        }
        for lock in [data.serveLock, data.upLock] where DataFolder.isLocked(lock) {
            throw Refusal(
                description: "a server is running on \(data.root); stop it, and name an empty folder with --data")
        }
        try Self.requireEmpty(data.root, "a data folder", remedy: "name an empty folder with --data")
        try check(self.database)
        try data.make()
        try layout.copyFiles(to: data)
        if access(layout.hubDatabase, F_OK) == 0 { try database(layout.hubDatabase, data.hubDatabase) }
        if access(layout.relayDatabase, F_OK) == 0 { try database(layout.relayDatabase, data.relayDatabase) }
        let unfinished = data.database + ".unfinished"
        try database(self.database, unfinished)
        guard rename(unfinished, data.database) == 0 else {
            throw PrivateFile.Failure(action: "write", path: data.database, code: errno)
        }
        try Self.sync(data.root)
    }

    /// Copies one database of the backup into a data folder, in the place of one that was lost or damaged.
    ///
    /// - Parameters:
    ///   - name: The name of the database's file in both folders.
    ///   - putAside: Puts the file at a path aside, with its log; called when the copy is complete.
    ///   - database: Copies a database from the first path to the second.
    /// - Throws: ``Refusal`` where the backup has no such database, or a server is running on the data folder.
    package func restore(
        only name: String, to data: DataFolder, putAside: (String) throws -> Void,
        database: (String, String) throws -> Void
    ) throws {
        let (from, to) = ("\(root)/\(name)", "\(data.root)/\(name)")
        guard access(from, F_OK) == 0 else { throw Refusal(description: "\(root) has no \(name)") }
        guard access(data.sealingKeys, F_OK) == 0 else {
            throw Refusal(description: "\(data.root) is no server's data folder; name one with --data")
        }
        for lock in [data.serveLock, data.upLock] where DataFolder.isLocked(lock) {
            throw Refusal(description: "a server is running on \(data.root); stop it")
        }
        let unfinished = to + ".unfinished"
        unlink(unfinished)
        try database(from, unfinished)
        try putAside(to)
        guard rename(unfinished, to) == 0 else {
            throw PrivateFile.Failure(action: "write", path: to, code: errno)
        }
        try Self.sync(data.root)
    }

    private static func requireEmpty(_ path: String, _ what: String, remedy: String) throws {
        guard access(path, F_OK) == 0 else { return }
        guard try FileManager.default.contentsOfDirectory(atPath: path).isEmpty else {
            throw Refusal(description: "\(path) is not empty, so \(what) is not written into it; \(remedy)")
        }
    }

    private static func sync(_ folder: String) throws(PrivateFile.Failure) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw PrivateFile.Failure(action: "open", path: folder, code: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw PrivateFile.Failure(action: "sync", path: folder, code: errno) }
    }
}

extension DataFolder {
    /// The longest file that is copied; media are the longest, at most 50 MiB.
    private static let longestFile = 64 << 20

    /// Copies the files that belong to the server's database: the keys of tokens and providers, certificates, media.
    /// Each is 0600, whatever it was. What is removed meanwhile is left out.
    fileprivate func copyFiles(to target: DataFolder) throws {
        try Self.copy(sealingKeys, to: target.sealingKeys)
        for (from, to) in [(keys, target.keys), (certificates, target.certificates), (media, target.media)] {
            try Self.copyFolder(from, to: to)
        }
    }

    private static func copyFolder(_ from: String, to: String) throws {
        guard access(from, F_OK) == 0 else { return }
        try PrivateFile.makeFolder(to, marks: ["."])
        for name in try FileManager.default.contentsOfDirectory(atPath: from) {
            var status = stat()
            guard lstat("\(from)/\(name)", &status) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: try copyFolder("\(from)/\(name)", to: "\(to)/\(name)")
            case S_IFREG: try copy("\(from)/\(name)", to: "\(to)/\(name)")
            // Links lead elsewhere, and nothing of ours is anything else.
            default: continue
            }
        }
    }

    private static func copy(_ from: String, to: String) throws {
        guard let bytes = try PrivateFile.bytes(from, limit: longestFile) else { return }
        try PrivateFile.write(bytes, to: to)
    }
}
