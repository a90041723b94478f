/// What SQLite did to a file, or to the folder that has it. Files are named by their paths.
package enum DiskChange: Sendable {
    /// A file is used for the first time; it has these bytes since before.
    case opened(String, [UInt8])
    /// Bytes were written from an offset on.
    case written(String, offset: Int, [UInt8])
    /// A file was given this length.
    case truncated(String, length: Int)
    /// What was written to a file so far is on the disk.
    case synced(String)
    /// A file was removed.
    case removed(String)
}

/// A disk with a cache, as it is after some changes: of each file the part that is sure, and what came since its last sync.
///
/// A write does no harm outside its own bytes, which is what SQLite asks of a disk (`SQLITE_IOCAP_POWERSAFE_OVERWRITE`).
package struct Disk {
    private struct File {
        var sure: [UInt8]
        /// Whether its folder was synced since the file was made.
        var isSureToExist: Bool
        var unsynced: [DiskChange] = []
    }

    /// What becomes of what was not synced when the power fails.
    package enum Fate: CaseIterable, Sendable {
        /// All of it is lost.
        case lost
        /// All of it is there, but of the last write the first half only.
        case lastTorn
        /// Each write on its own is there, is lost, or is there by its first half.
        case mixed
    }

    private var files: [String: File] = [:]

    /// A disk without files.
    package init() {}

    /// Makes the next change.
    package mutating func make(_ change: DiskChange) {
        switch change {
        case .opened(let path, let bytes):
            // One that has bytes was there before; an empty one is sure with the first sync.
            files[path] = File(sure: bytes, isSureToExist: !bytes.isEmpty)
        case .written(let path, _, _), .truncated(let path, _): files[path]?.unsynced.append(change)
        case .synced(let path):
            guard var file = files.removeValue(forKey: path) else { return }
            for change in file.unsynced { Self.apply(change, to: &file.sure) }
            files[path] = File(sure: file.sure, isSureToExist: true)
        case .removed(let path): files[path] = nil
        }
    }

    /// What the files hold when the power fails now.
    package func cut(_ fate: Fate, random: inout some RandomNumberGenerator) -> [String: [UInt8]] {
        var left: [String: [UInt8]] = [:]
        for (path, file) in files.sorted(by: { $0.key < $1.key }) {
            if fate != .lastTorn, !file.isSureToExist, file.sure.isEmpty, Bool.random(using: &random) { continue }
            var bytes = file.sure
            for (number, change) in file.unsynced.enumerated() {
                switch fate {
                case .lost: break
                case .lastTorn:
                    Self.apply(number == file.unsynced.count - 1 ? Self.torn(change) : change, to: &bytes)
                case .mixed:
                    switch UInt8.random(in: 0..<3, using: &random) {
                    case 0: break
                    case 1: Self.apply(Self.torn(change), to: &bytes)
                    default: Self.apply(change, to: &bytes)
                    }
                }
            }
            left[path] = bytes
        }
        return left
    }

    private static func torn(_ change: DiskChange) -> DiskChange {
        guard case .written(let path, let offset, let bytes) = change else { return change }
        return .written(path, offset: offset, Array(bytes.prefix(bytes.count / 2)))
    }

    private static func apply(_ change: DiskChange, to bytes: inout [UInt8]) {
        switch change {
        case .written(_, let offset, let new):
            let end = offset + new.count
            if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
            bytes.replaceSubrange(offset..<end, with: new)
        case .truncated(_, let length):
            if length < bytes.count {
                bytes.removeLast(bytes.count - length)
            } else {
                bytes += [UInt8](repeating: 0, count: length - bytes.count)
            }
        case .opened, .synced, .removed: break
        }
    }
}
