import CLinux
import Foundation

/// Notices what becomes of one file, through every link that leads to it; used by one thread at a time.
///
/// Guarantees: what is not there is noticed when it comes, also where its folder is missing; a folder on the way that is moved,
/// replaced or taken away is noticed as well; nothing is polled but the descriptor, and what no longer leads to the file is
/// watched no more.
package final class FolderWatch {
    /// To be polled; -1 where the system gives none: then nothing is noticed.
    package let descriptor: Int32
    private let path: String
    /// The names that matter, by the folder's watch.
    private var names: [Int32: Set<String>] = [:]

    /// Watches from now on.
    ///
    /// - Parameter path: Absolute.
    package init(path: String) {
        self.path = path
        descriptor = aldaba_watch_open()
        watch()
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// What happened since it was asked last, as inotify's bits added up; 0 for nothing. All bits when some was lost.
    package func changes() -> UInt32 {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        var changes: UInt32 = 0
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            changes |= buffer.withUnsafeBytes { matters($0.prefix(count)) }
        }
        // What happened may lead elsewhere.
        if changes != 0 { watch() }
        return changes
    }

    /// `struct inotify_event`: watch, mask, cookie and length, 32 bits each, and the name.
    private func matters(_ events: Slice<UnsafeRawBufferPointer>) -> UInt32 {
        let bytes = UnsafeRawBufferPointer(rebasing: events)
        var changes: UInt32 = 0
        var place = 0
        while place + 16 <= bytes.count {
            let watch = bytes.loadUnaligned(fromByteOffset: place, as: Int32.self)
            let mask = bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)
            let length = Int(bytes.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self))
            // What was lost may have been it.
            guard place + 16 + length <= bytes.count, mask & UInt32(IN_Q_OVERFLOW) == 0 else { return .max }
            let name = bytes[(place + 16)..<(place + 16 + length)].prefix { $0 != 0 }
            let isOfFolder = mask & UInt32(IN_IGNORED | IN_MOVE_SELF | IN_DELETE_SELF) != 0
            if let names = names[watch], isOfFolder || names.contains(String(decoding: name, as: UTF8.self)) {
                changes |= mask
            }
            place += 16 + length
        }
        return changes
    }

    /// Watches the way to the file as it is now, and that alone.
    private func watch() {
        guard descriptor >= 0 else { return }
        var old = Set(names.keys)
        // While it is looked at it may change; who changes it all the time is noticed by what was watched so far.
        for _ in 0..<8 {
            var way = PathWatch(to: path, descriptor: descriptor)
            let isComplete = way.follow()
            names = way.names
            old.formUnion(names.keys)
            if isComplete { break }
        }
        for watch in old where names[watch] == nil { inotify_rm_watch(descriptor, watch) }
    }
}

/// One walk from the root to a file, which watches each folder on the way: for its own move, and for the name that comes next where
/// that is the file, a link, or missing.
private struct PathWatch {
    /// What a name stands for.
    private enum Kind: Equatable {
        case folder
        case link(to: String)
        /// Nothing, or what is no folder.
        case other
    }

    let descriptor: Int32
    /// What was watched for, by the folder's watch.
    private(set) var names: [Int32: Set<String>] = [:]
    private var folder: [Substring] = []
    /// The names still to go, the next one last.
    private var rest: [Substring]
    /// As many links as the kernel follows.
    private var links = 40

    init(to path: String, descriptor: Int32) {
        self.descriptor = descriptor
        rest = path.split(separator: "/").reversed()
    }

    /// Goes to the file, or as far as there is a way; false when that changed meanwhile.
    mutating func follow() -> Bool {
        while let name = rest.popLast() {
            switch name {
            case ".": continue
            case "..": folder = folder.dropLast()
            default: if let isComplete = step(to: name) { return isComplete }
            }
        }
        return true
    }

    /// Goes to a name in the folder; `nil` when there is more to go, else whether this is the end.
    private mutating func step(to name: Substring) -> Bool? {
        let place = "/" + folder.joined(separator: "/")
        let path = place == "/" ? "/\(name)" : "\(place)/\(name)"
        let kind = Self.kind(of: path)
        let matters = rest.isEmpty || kind != .folder
        let watch = aldaba_watch_add(descriptor, place, matters ? 1 : 0)
        // A folder that may not be read is passed over, one that is gone is not.
        if watch < 0, errno == ENOENT || errno == ENOTDIR { return false }
        if watch >= 0 { names[watch, default: []].formUnion(matters ? [String(name)] : []) }
        guard Self.kind(of: path) == kind else { return false }
        switch kind {
        case .other: return true
        case .folder:
            folder.append(name)
            return nil
        case .link(let target):
            guard links > 0 else { return true }
            links -= 1
            if target.hasPrefix("/") { folder = [] }
            rest += target.split(separator: "/").reversed()
            return nil
        }
    }

    private static func kind(of path: String) -> Kind {
        var status = stat()
        guard lstat(path, &status) == 0 else { return .other }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return .folder
        case S_IFLNK:
            return (try? FileManager.default.destinationOfSymbolicLink(atPath: path)).map(Kind.link) ?? .other
        default: return .other
        }
    }
}
