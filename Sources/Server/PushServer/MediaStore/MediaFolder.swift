import Foundation
import Platform

/// The folder of stored files: each under its name, with its record; uploads have other names.
struct MediaFolder: Sendable {
    let path: String

    private static let arrivingEnding = ".arriving"
    private static let recordEnding = ".json"

    /// Creates the folder where it is missing, with mode 0700.
    init(_ path: String) throws(MachineError) {
        self.path = path
        try PrivateFolder.prepare(path, shut: true)
    }

    func place(of name: MediaName) -> String { "\(path)/\(name)" }
    func placeWhileArriving(_ name: MediaName) -> String { "\(path)/\(name)\(Self.arrivingEnding)" }
    /// The place of a copy that arrives; several requests for one file have places of their own.
    func placeForCopy(_ name: MediaName) -> String {
        "\(path)/\(name).\(String(UInt64.random(in: .min ... .max), radix: 36))\(Self.arrivingEnding)"
    }
    private func placeOfRecord(_ name: MediaName) -> String { "\(path)/\(name)\(Self.recordEnding)" }

    // MARK: One file

    /// Renames a complete upload to its name. The record is written last: a file without one is removed at the next
    /// start.
    func keep(_ file: MediaFile, from arrived: String) throws {
        guard rename(arrived, place(of: file.name)) == 0 else { throw MachineError(what: arrived, code: errno) }
        try write(file)
    }

    /// Replaces a file's record atomically.
    func write(_ file: MediaFile) throws {
        let place = placeOfRecord(file.name)
        let temporary = placeWhileArriving(file.name)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        guard let bytes = (try? encoder.encode(MediaRecord(file))).map(Array.init) else {
            throw MachineError(what: place, reason: "it cannot be written as JSON")
        }
        let target = try Self.create(temporary)
        let folder = try Descriptor(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), "folder")
        // The descriptors are closed with their last use.
        try withExtendedLifetime((target, folder)) {
            do {
                try bytes.withUnsafeBytes { try Self.write($0, to: target.number, path: temporary) }
                try Self.sync(target.number, temporary)
                guard rename(temporary, place) == 0 else { throw MachineError(what: place, code: errno) }
            } catch {
                unlink(temporary)
                throw error
            }
            try Self.sync(folder.number, path)
        }
    }

    /// Removes a file, its record first.
    func remove(_ name: MediaName) {
        unlink(placeOfRecord(name))
        unlink(place(of: name))
    }

    /// Creates a new file that only its owner may read.
    static func create(_ path: String) throws(MachineError) -> Descriptor {
        try Descriptor(open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600), "file \(path)")
    }

    /// Writes all bytes at the descriptor's offset.
    static func write(_ bytes: UnsafeRawBufferPointer, to target: Int32, path: String) throws(MachineError) {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = Glibc.write(target, rest.baseAddress, rest.count)
            if count > 0 {
                written += count
            } else if count == 0 || errno != EINTR {
                throw MachineError(what: path, code: count == 0 ? EIO : errno)
            }
        }
    }

    static func sync(_ descriptor: Int32, _ path: String) throws(MachineError) {
        guard fsync(descriptor) == 0 else { throw MachineError(what: path, code: errno) }
    }

    // MARK: At the start

    /// Reads every file with its record, in no order. Files without a record, left by a crash, are removed.
    func load() throws(MachineError) -> [MediaFile] {
        let entries: [String]
        do { entries = try FileManager.default.contentsOfDirectory(atPath: path) } catch {
            throw MachineError(what: path, reason: "it cannot be read")
        }
        var found: [MediaFile] = []
        var contents: Set<MediaName> = []
        for entry in entries {
            if entry.hasSuffix(Self.arrivingEnding) { unlink("\(path)/\(entry)") }
            if let name = MediaName(entry) { contents.insert(name) }
        }
        for entry in entries where entry.hasSuffix(Self.recordEnding) {
            guard let name = MediaName(entry.dropLast(Self.recordEnding.count)) else { continue }
            guard contents.contains(name), let file = read(name) else {
                remove(name)
                continue
            }
            contents.remove(name)
            found.append(file)
        }
        for name in contents { unlink(place(of: name)) }
        return found
    }

    private func read(_ name: MediaName) -> MediaFile? {
        guard let bytes = FileManager.default.contents(atPath: placeOfRecord(name)), bytes.count < 4096,
            let file = (try? JSONDecoder().decode(MediaRecord.self, from: bytes))?.file(named: name)
        else { return nil }
        var status = stat()
        guard lstat(place(of: name), &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            Int64(status.st_size) == file.bytes
        else { return nil }
        return file
    }
}
