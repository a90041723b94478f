import CLinux
import Foundation

/// Watches one file for changes, through every link that leads to it; used by one thread at a time.
///
/// Guarantees: a missing file is detected when it is created, even if its folder is missing. A folder of the path that
/// is moved, replaced or removed is detected as well. Only the descriptor is polled, and folders that no longer lead to
/// the file are not watched.
package final class FolderWatch {
    /// The descriptor to be polled; -1 where the system provides none: then no changes are detected.
    package let descriptor: Int32
    private let path: String
    /// The relevant names, by the folder's watch.
    private var names: [Int32: Set<String>] = [:]

    /// Begins to watch.
    ///
    /// - Parameter path: The absolute path of the file.
    package init(path: String) {
        self.path = path
        descriptor = aldaba_watch_open()
        watch()
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The changes since the last call, as the union of inotify's bits; 0 for none. All bits are set when events were
    /// lost.
    package func changes() -> UInt32 {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        var changes: UInt32 = 0
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            changes |= buffer.withUnsafeBytes { matters($0.prefix(count)) }
        }
        // The changes may have altered the path.
        if changes != 0 { watch() }
        return changes
    }

    /// Parses `struct inotify_event`: watch, mask, cookie and length, 32 bits each, and the name.
    private func matters(_ events: Slice<UnsafeRawBufferPointer>) -> UInt32 {
        let bytes = UnsafeRawBufferPointer(rebasing: events)
        var changes: UInt32 = 0
        var place = 0
        while place + 16 <= bytes.count {
            let watch = bytes.loadUnaligned(fromByteOffset: place, as: Int32.self)
            let mask = bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)
            let length = Int(bytes.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self))
            // The lost events may have concerned the file.
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

    /// Watches the present path to the file, and only that.
    private func watch() {
        guard descriptor >= 0 else { return }
        var old = Set(names.keys)
        // The path may change during the walk; permanent changes are detected by the earlier watches.
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

/// A walk from the root to a file that watches each folder of the path: for its own move, and for the next name if that
/// is the file, a link, or missing.
private struct PathWatch {
    /// The kind of a path component.
    private enum Kind: Equatable {
        case folder
        case link(to: String)
        /// The name does not exist, or is no folder.
        case other
    }

    let descriptor: Int32
    /// The watched names, by the folder's watch.
    private(set) var names: [Int32: Set<String>] = [:]
    private var folder: [Substring] = []
    /// The remaining names, the next one last.
    private var rest: [Substring]
    /// The remaining number of links, at first the kernel's maximum.
    private var links = 40

    init(to path: String, descriptor: Int32) {
        self.descriptor = descriptor
        rest = path.split(separator: "/").reversed()
    }

    /// Walks to the file, or as far as the path exists; `false` when it changed meanwhile.
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

    /// Walks to a name in the folder; `nil` when names remain, otherwise whether this is the end.
    private mutating func step(to name: Substring) -> Bool? {
        let place = "/" + folder.joined(separator: "/")
        let path = place == "/" ? "/\(name)" : "\(place)/\(name)"
        let kind = Self.kind(of: path)
        let matters = rest.isEmpty || kind != .folder
        let watch = aldaba_watch_add(descriptor, place, matters ? 1 : 0)
        // A folder that may not be read is skipped; one that was removed is not.
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
