import AgentEngine
import AgentProtocol
import Foundation
import Platform

/// The folder that holds one manifest per installed app, `ID.json`.
package struct AppFolder: Sendable {
    /// The folder's path; the folder is made when an app is installed.
    package let path: String

    /// Reads nothing, and makes no folder.
    package init(path: String) { self.path = path }

    /// Every manifest that can be read, by bundle id, and what is wrong with the others, by file name.
    ///
    /// A folder that does not exist has no apps, and is not readable. Files that do not end in `.json` are left alone.
    package func load() -> InstalledManifests {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            return InstalledManifests(isReadable: false)
        }
        var content = InstalledManifests(isReadable: true)
        for name in names.sorted() where name.hasSuffix(".json") {
            guard let text = FileManager.default.contents(atPath: path + "/" + name) else {
                content.faults.append((name, "the file cannot be read"))
                content.mayChangeUnseen = true
                continue
            }
            do {
                let manifest = try AppManifest.read(text)
                if let fault = manifest.programFault() { throw fault }
                if content.apps.updateValue(manifest, forKey: manifest.id) != nil {
                    content.faults.append((name, "another file has the id \(manifest.id) too; this one is used"))
                }
                content.files[manifest.id] = name
            } catch {
                content.faults.append((name, "\(error)"))
            }
        }
        return content
    }

    /// A fingerprint of the manifests: names, inodes, sizes and times of change.
    package func mark() -> Set<String> {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return Set(
            names.filter { $0.hasSuffix(".json") }.map { name in
                var file = stat()
                guard stat("\(path)/\(name)", &file) == 0 else { return name }
                return "\(name) \(file.st_ino) \(file.st_size) \(file.st_mtim.tv_sec) \(file.st_mtim.tv_nsec) "
                    + "\(file.st_ctim.tv_sec) \(file.st_ctim.tv_nsec)"
            })
    }

    /// Takes an app away; a running agent ends what waits for it when it next looks.
    ///
    /// - Returns: Whether it was there.
    /// - Throws: ``AgentStartError/folder(path:reason:)`` when its manifest cannot be deleted.
    package func remove(_ app: BundleID) throws -> Bool {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let files = names.filter { name in
            guard name.hasSuffix(".json"), let text = FileManager.default.contents(atPath: path + "/" + name) else {
                return false
            }
            return (try? AppManifest.read(text))?.id == app
        }
        for file in files where unlink(path + "/" + file) != 0 { throw Self.failure(path + "/" + file) }
        guard !files.isEmpty else { return false }
        unlink(secretPath(of: app))
        return true
    }

    /// Installs an app, or replaces its manifest; the file is complete or not there.
    ///
    /// The folder is made with mode 0700 where it is missing. The file is 0600 from its first byte on: a manifest's
    /// `environment` may hold secrets.
    ///
    /// - Returns: The file's path.
    /// - Throws: ``AppManifestError`` for a program that cannot prove that it is the app;
    ///   ``AgentStartError/folder(path:reason:)`` when the folder or the file cannot be written.
    @discardableResult
    package func install(_ manifest: AppManifest) throws -> String {
        if let fault = manifest.programFault() { throw fault }
        do {
            try PrivateFolder.prepare(path, shut: true)
        } catch {
            throw AgentStartError(error)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        if manifest.provesBySecret, secret(of: manifest.id) == nil {
            let secret = (0..<32).map { _ in UInt8.random(in: 0...255) }.map { String(format: "%02x", $0) }.joined()
            try write(Data(secret.utf8), to: secretPath(of: manifest.id))
        }
        let file = "\(path)/\(manifest.id).json"
        try write(try encoder.encode(manifest), to: file)
        return file
    }

    /// The path of an app's secret, for an app that proves itself by one.
    package func secretPath(of app: BundleID) -> String { "\(path)/\(app).secret" }

    /// An app's secret; `nil` when there is no readable one, or when other users could read it.
    package func secret(of app: BundleID) -> String? {
        var status = stat()
        guard stat(secretPath(of: app), &status) == 0, status.st_uid == getuid(), status.st_mode & 0o077 == 0 else {
            return nil
        }
        return FileManager.default.contents(atPath: secretPath(of: app)).map {
            String(decoding: $0.prefix(256), as: UTF8.self)
        }
    }

    /// Writes a file that is 0600 from its first byte on, complete or not at all.
    private func write(_ text: Data, to file: String) throws {
        // Not a name that ``load()`` would read.
        let draft = "\(file).\(getpid()).new"
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(file) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: text)
            try handle.synchronize()
        } catch {
            unlink(draft)
            throw AgentStartError.folder(path: file, reason: "\(error)")
        }
        guard rename(draft, file) == 0 else {
            defer { unlink(draft) }
            throw Self.failure(file)
        }
    }

    private static func failure(_ file: String) -> AgentStartError {
        .folder(path: file, reason: String(cString: strerror(errno)))
    }
}
