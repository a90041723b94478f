import CoreValues
import Crypto
import Foundation
import Platform
import RelayProtocol
import Synchronization

/// An operation on a file that is sent to another device, or received from one.
package enum RelayFileOrder: Hashable, Sendable {
    /// Look for an earlier part of a file, and report its length and digest. `part` names it. With `isMade` a missing
    /// folder is made.
    case prepare(folder: String, part: String, isMade: Bool)
    /// Write a piece; at 0 the file begins anew.
    case write(offset: Int64, [UInt8])
    /// All is there: compare the digest, and give the file its name, or one beside it where that is taken.
    case finish(name: String, digest: [UInt8])
    /// Go on later; what came stays.
    case leave
    /// Read pieces. Where the digest of what is before them is another, read from the beginning.
    case read(path: String, RelayOffer, offset: Int64, length: Int64, prefix: [UInt8])
}

/// The outcome of a ``RelayFileOrder``.
package enum RelayFileEvent: Hashable, Sendable {
    /// So much came earlier; its digest, which is empty where there is nothing.
    case prepared(length: Int64, digest: [UInt8])
    /// All up to here is written.
    case written(upTo: Int64)
    /// The file lies there.
    case finished(path: String)
    /// A piece was read.
    case piece(offset: Int64, [UInt8])
    /// The file's end was read; the digest of the whole.
    case ended(digest: [UInt8])
    /// The order cannot be done; why, in words.
    case failed(String)
}

/// The files of streams, on a thread of their own.
///
/// Incoming data is written beside its final place, under a name that identifies the file, so that it can continue
/// after any interruption. The caller bounds how much is read and written at a time.
package final class RelayFiles: Sendable {
    /// How large a piece is.
    package static let pieceSize = 64 << 10

    private struct Incoming {
        var descriptor: Descriptor
        var folder: String
        var part: String
        var hasher: SHA256
        var length: Int64
    }

    private struct Outgoing {
        var descriptor: Descriptor
        var hasher: SHA256
        var position: Int64
    }

    private enum Open {
        case incoming(Incoming)
        case outgoing(Outgoing)
    }

    private struct State {
        var work: [@Sendable () -> Void] = []
        var isWorking = false
    }

    private let state = Mutex(State())
    private let open = Mutex<[UUID: Open]>([:])

    /// No file is open.
    package init() {}

    /// Does something, after what was asked before. `tell` is called on the files' thread, for reading once for each
    /// piece.
    package func follow(
        _ stream: UUID, _ order: RelayFileOrder, tell: @escaping @Sendable (RelayFileEvent) -> Void
    ) {
        let begins = state.withLock { state in
            state.work.append { [self] in take(order, of: stream, tell: tell) }
            defer { state.isWorking = true }
            return !state.isWorking
        }
        if begins { NamedThread.begin("aldaba-files") { [self] in work() } }
    }

    private func work() {
        while true {
            let next = state.withLock { state -> [@Sendable () -> Void] in
                defer { state.work = [] }
                state.isWorking = !state.work.isEmpty
                return state.work
            }
            guard !next.isEmpty else { return }
            for work in next { work() }
        }
    }

    private func take(_ order: RelayFileOrder, of stream: UUID, tell: (RelayFileEvent) -> Void) {
        do throws(FileError) {
            switch order {
            case .prepare(let folder, let part, let isMade):
                tell(try prepare(stream, folder: folder, part: part, isMade: isMade))
            case .write(let offset, let bytes): tell(.written(upTo: try write(bytes, to: stream, at: offset)))
            case .finish(let name, let digest): tell(.finished(path: try finish(stream, name: name, digest: digest)))
            case .leave: _ = open.withLock { $0.removeValue(forKey: stream) }
            case .read(let path, let offer, let offset, let length, let prefix):
                try read(stream, path: path, offer: offer, offset: offset, length: length, prefix: prefix, tell: tell)
            }
        } catch {
            _ = open.withLock { $0.removeValue(forKey: stream) }
            tell(.failed(error.words))
        }
    }

    private struct FileError: Error {
        var words: String

        init(_ words: String) { self.words = words }

        init(_ path: String, code: Int32) { words = "\(path): \(String(cString: strerror(code)))" }
    }

    // MARK: What comes

    private func prepare(
        _ stream: UUID, folder: String, part: String, isMade: Bool
    ) throws(FileError) -> RelayFileEvent {
        if isMade, mkdir(folder, 0o700) != 0, errno != EEXIST { throw FileError(folder, code: errno) }
        var status = stat()
        // The message is sent to the other device, which need not know the path.
        guard stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw FileError(
                "the folder into which files are put there is missing; its owner names it by `aldaba relay share files`"
            )
        }
        let path = folder + "/" + part
        let number = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        let descriptor = try Self.descriptor(number, path)
        // Two streams of one file do not write into each other.
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else { throw FileError("the same file is coming already") }
        var hasher = SHA256()
        let length = try Self.hash(descriptor, upTo: nil, into: &hasher, path)
        open.withLock {
            $0[stream] = .incoming(
                Incoming(descriptor: descriptor, folder: folder, part: part, hasher: hasher, length: length))
        }
        return .prepared(length: length, digest: length == 0 ? [] : Array(hasher.finalize()))
    }

    private func incoming(_ stream: UUID) throws(FileError) -> Incoming {
        guard case .incoming(let file)? = open.withLock({ $0[stream] }) else {
            throw FileError("the file is not open")
        }
        return file
    }

    private func write(_ bytes: [UInt8], to stream: UUID, at offset: Int64) throws(FileError) -> Int64 {
        var file = try incoming(stream)
        if offset == 0, file.length != 0 {
            guard ftruncate(file.descriptor.number, 0) == 0 else { throw FileError(file.part, code: errno) }
            file.hasher = SHA256()
            file.length = 0
        }
        guard offset == file.length else { throw FileError("a piece is missing before \(offset)") }
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(file.descriptor.number, $0.baseAddress! + done, $0.count - done, off_t(offset) + off_t(done))
            }
            guard count > 0 else { throw FileError(file.folder, code: errno) }
            done += count
        }
        file.hasher.update(data: bytes)
        file.length += Int64(bytes.count)
        open.withLock { $0[stream] = .incoming(file) }
        return file.length
    }

    private func finish(_ stream: UUID, name: String, digest: [UInt8]) throws(FileError) -> String {
        let file = try incoming(stream)
        _ = open.withLock { $0.removeValue(forKey: stream) }
        let part = file.folder + "/" + file.part
        guard Array(file.hasher.finalize()) == digest else {
            unlink(part)
            throw FileError("what came is not what was sent; it was deleted, and may be sent again")
        }
        guard fsync(file.descriptor.number) == 0 else { throw FileError(part, code: errno) }
        for number in 0..<1000 {
            let path = file.folder + "/" + Self.name(name, number)
            if link(part, path) == 0 {
                unlink(part)
                return path
            }
            guard errno == EEXIST else { throw FileError(path, code: errno) }
        }
        throw FileError("\(file.folder) holds too many files called \(name)")
    }

    /// A name without folders, hidden beginnings, control characters and those that change the direction of text; with a number
    /// where others have it.
    static func name(_ name: String, _ number: Int) -> String {
        var plain = String(
            DirectionControls.removed(from: name).unicodeScalars.filter {
                $0.value >= 32 && $0.value != 127 && $0 != "/"
            })
        while plain.hasPrefix(".") || plain.hasPrefix(" ") { plain.removeFirst() }
        while plain.utf8.count > 200 { plain.removeFirst() }
        if plain.isEmpty { plain = "file" }
        guard number > 0 else { return plain }
        guard let dot = plain.lastIndex(of: "."), dot != plain.startIndex else { return "\(plain) (\(number))" }
        return "\(plain[..<dot]) (\(number))\(plain[dot...])"
    }

    // MARK: What goes

    private func read(
        _ stream: UUID, path: String, offer: RelayOffer, offset: Int64, length: Int64, prefix: [UInt8],
        tell: (RelayFileEvent) -> Void
    ) throws(FileError) {
        var file = try outgoing(stream, path)
        try Self.check(file.descriptor, path, is: offer)
        if file.position != offset {
            file.hasher = SHA256()
            file.position = try Self.hash(file.descriptor, upTo: offset, into: &file.hasher, path)
        }
        // Where the receiver has the whole file, the digest of the whole is compared instead.
        if !prefix.isEmpty, offset < offer.size, Array(file.hasher.finalize()) != prefix {
            file.hasher = SHA256()
            file.position = 0
        }
        let end = min(offer.size, file.position + length)
        while file.position < end {
            let bytes = try Self.read(
                file.descriptor, count: Int(min(Int64(Self.pieceSize), end - file.position)), at: file.position,
                path: path)
            guard !bytes.isEmpty else { throw FileError("\(path) became shorter while it was sent") }
            file.hasher.update(data: bytes)
            tell(.piece(offset: file.position, bytes))
            file.position += Int64(bytes.count)
        }
        guard file.position == offer.size else { return open.withLock { [file] in $0[stream] = .outgoing(file) } }
        try Self.check(file.descriptor, path, is: offer)
        let ended = file
        open.withLock { $0[stream] = .outgoing(ended) }
        tell(.ended(digest: Array(file.hasher.finalize())))
    }

    private func outgoing(_ stream: UUID, _ path: String) throws(FileError) -> Outgoing {
        if case .outgoing(let file)? = open.withLock({ $0[stream] }) { return file }
        let number = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        return Outgoing(descriptor: try Self.descriptor(number, path), hasher: SHA256(), position: 0)
    }

    private static func descriptor(_ number: Int32, _ path: String) throws(FileError) -> Descriptor {
        do throws(MachineError) { return try Descriptor(number, "file") } catch {
            throw FileError("\(path): \(error.reason)")
        }
    }

    private static func check(_ file: Descriptor, _ path: String, is offer: RelayOffer) throws(FileError) {
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw FileError(path, code: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileError("\(path) is no plain file") }
        guard Int64(status.st_size) == offer.size, modified(status) == offer.modified else {
            throw FileError("\(path) was changed after it was offered; send it again")
        }
    }

    /// When a file was changed last, in milliseconds since 1970.
    private static func modified(_ status: stat) -> Int64 {
        Int64(status.st_mtim.tv_sec) * 1000 + Int64(status.st_mtim.tv_nsec) / 1_000_000
    }

    /// The reason why a file cannot be sent, in words with its path; `nil` where it can.
    package static func fault(of path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else {
            return errno == ENOENT
                ? "there is no file \(path)" : "\(path) cannot be read: \(String(cString: strerror(errno)))"
        }
        guard status.st_mode & S_IFMT != S_IFDIR else { return "\(path) is a folder; files alone are sent" }
        guard status.st_mode & S_IFMT == S_IFREG else { return "\(path) is no plain file, and only such are sent" }
        guard access(path, R_OK) == 0 else { return "\(path) cannot be read: \(String(cString: strerror(errno)))" }
        return nil
    }

    /// The offer that describes a file: its name, size and time of modification; `nil` where it is not a regular file.
    package static func offer(of path: String) -> RelayOffer? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let name = String(path.split(separator: "/").last ?? "")
        guard name.utf8.count <= 255 else { return nil }
        return RelayOffer(name: name, size: Int64(status.st_size), modified: modified(status))
    }

    private static func read(
        _ file: Descriptor, count: Int, at offset: Int64, path: String
    ) throws(FileError) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, size in
            let count = pread(file.number, buffer.baseAddress, count, off_t(offset))
            if count < 0 { failure = errno }
            size = max(0, count)
        }
        guard failure == 0 else { throw FileError(path, code: failure) }
        return bytes
    }

    /// Hashes a file's beginning, and returns its length.
    private static func hash(
        _ file: Descriptor, upTo limit: Int64?, into hasher: inout SHA256, _ path: String
    ) throws(FileError) -> Int64 {
        var position: Int64 = 0
        while limit.map({ position < $0 }) ?? true {
            let count = min(1 << 20, limit.map { $0 - position } ?? 1 << 20)
            let bytes = try read(file, count: Int(count), at: position, path: path)
            guard !bytes.isEmpty else { break }
            hasher.update(data: bytes)
            position += Int64(bytes.count)
        }
        return position
    }
}
