import AgentEngine
import AgentProtocol
import Foundation
import Platform

/// The files of fetching: those that are being received, those in the cache, and those of answers.
///
/// Every file has the mode 0600 and every folder 0700. An answer's file is a copy, which its receiver may change or
/// move. All functions may wait for the disk.
struct MediaFolder: Sendable {
    private let path: String
    /// The most bytes of answers to one app that it has not taken yet.
    static let handedLimit: Int64 = 200 << 20

    init(path: String) { self.path = path }

    private var receivingFolder: String { path + "/receiving" }
    private var keptFolder: String { path + "/kept" }
    private func handedFolder(of app: BundleID) -> String { "\(path)/handed/\(app)" }
    private func kept(_ name: String) -> String { "\(keptFolder)/\(name)" }

    /// Makes the folders, deletes what an earlier run left half done, and reads what is kept.
    func open() throws(MachineError) -> [MediaCache.Entry] {
        for name in ["/receiving", "/handed"] { try? FileManager.default.removeItem(atPath: path + name) }
        for folder in [path, receivingFolder, keptFolder, path + "/handed"] {
            try PrivateFolder.prepare(folder, shut: true)
        }
        let names = Set((try? FileManager.default.contentsOfDirectory(atPath: keptFolder)) ?? [])
        var entries: [(entry: MediaCache.Entry, changed: Date)] = []
        for name in names where name.hasSuffix(".json") {
            let attributes = try? FileManager.default.attributesOfItem(atPath: kept(name))
            guard let text = FileManager.default.contents(atPath: kept(name)),
                let entry = try? JSONDecoder().decode(MediaCache.Entry.self, from: text),
                name == "\(entry.name).json", names.contains(entry.name), isWhole(entry)
            else { continue }
            entries.append((entry, attributes?[.modificationDate] as? Date ?? .distantPast))
        }
        let known = Set(entries.flatMap { [$0.entry.name, "\($0.entry.name).json"] })
        for name in names where !known.contains(name) { unlink(kept(name)) }
        return entries.sorted { $0.changed < $1.changed }.map(\.entry)
    }

    private func isWhole(_ entry: MediaCache.Entry) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: kept(entry.name))
        return entry.size > 0 && (attributes?[.size] as? NSNumber)?.int64Value == entry.size
            && UUID(uuidString: entry.name) != nil
    }

    /// A new file for bytes that come.
    func receive() throws(MachineError) -> ReceivedFile {
        try ReceivedFile(path: "\(receivingFolder)/\(UUID().uuidString.lowercased())")
    }

    /// Moves a received file into the cache, and returns its name.
    func keep(_ file: ReceivedFile) throws(MachineError) -> String {
        let name = UUID().uuidString.lowercased()
        guard rename(file.path, kept(name)) == 0 else { throw MachineError(what: kept(name), code: errno) }
        return name
    }

    /// Writes down what a kept file is, so that it is known after a restart.
    func writeEntry(_ entry: MediaCache.Entry) {
        guard let text = try? JSONEncoder().encode(entry) else { return }
        // One that cannot be written is not known after a restart, and deleted then.
        let note = Glibc.open(kept(entry.name) + ".json", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard note >= 0 else { return }
        _ = text.withUnsafeBytes { write(note, $0.baseAddress, $0.count) }
        close(note)
    }

    /// Deletes what is kept no more.
    func drop(_ entries: [MediaCache.Entry]) {
        for entry in entries {
            unlink(kept(entry.name))
            unlink(kept(entry.name) + ".json")
        }
    }

    /// Gives an app a copy of a cached file.
    func hand(kept entry: MediaCache.Entry, to app: BundleID) throws -> String {
        let place = try place(of: app, size: entry.size, ending: entry.kind.ending)
        try copy(kept(entry.name), to: place, size: entry.size)
        return place
    }

    /// Gives an app a received file, which is moved.
    func hand(_ file: ReceivedFile, kind: FetchedMediaKind, to app: BundleID) throws -> String {
        let place = try place(of: app, size: file.size, ending: kind.ending)
        guard rename(file.path, place) == 0 else { throw MachineError(what: place, code: errno) }
        return place
    }

    /// Deletes the file of an answer that its receiver has not taken.
    func takeBack(_ handed: String) {
        guard handed.hasPrefix(path + "/handed/") else { return }
        unlink(handed)
    }

    /// Deletes all files of answers to an app.
    func remove(_ app: BundleID) { try? FileManager.default.removeItem(atPath: handedFolder(of: app)) }

    private func place(of app: BundleID, size: Int64, ending: String) throws -> String {
        let folder = handedFolder(of: app)
        try PrivateFolder.prepare(folder, shut: true)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let used = names.reduce(Int64(0)) { sum, name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
            return sum + ((attributes?[.size] as? NSNumber)?.int64Value ?? 0)
        }
        guard used + size <= Self.handedLimit else {
            throw MediaFailure(
                .noRoom,
                "\(used) bytes were fetched for the app that it has not attached; \(Self.handedLimit) are allowed")
        }
        return "\(folder)/\(UUID().uuidString.lowercased()).\(ending)"
    }

    private func copy(_ source: String, to target: String, size: Int64) throws {
        let from = Glibc.open(source, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard from >= 0 else { throw MachineError(what: source, code: errno) }
        defer { close(from) }
        let file = try ReceivedFile(path: target)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        do {
            while case let count = read(from, &buffer, buffer.count), count > 0 { try file.append(buffer[..<count]) }
            guard file.size == size else { throw MachineError(what: target, reason: "it is not whole") }
        } catch {
            file.drop()
            throw error
        }
    }
}
