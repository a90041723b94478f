import CLinux
import Foundation

/// Notices what becomes of one file, through every link that leads to it; used by one thread only.
///
/// Guarantees: what is not there is noticed when it comes, also where its folder is missing; nothing is polled but the
/// descriptor.
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
        // A link may lead to another folder now.
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
            let isFolderGone = mask & UInt32(IN_IGNORED) != 0
            if let names = names[watch], isFolderGone || names.contains(String(decoding: name, as: UTF8.self)) {
                changes |= mask
            }
            place += 16 + length
        }
        return changes
    }

    /// The folders of the file and of each link on the way to it.
    private func watch() {
        guard descriptor >= 0 else { return }
        names = [:]
        var next = path
        // As many links as the kernel follows.
        for _ in 0..<40 {
            let folder = watchFolder(of: next)
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: next) else { return }
            next = target.hasPrefix("/") ? target : "\(folder)/\(target)"
        }
    }

    /// Watches the folder for the file's name; where it is missing, the next one above that is there.
    ///
    /// - Returns: The file's folder.
    private func watchFolder(of path: String) -> String {
        var url = URL(fileURLWithPath: path)
        let folder = url.deletingLastPathComponent()
        while true {
            let parent = url.deletingLastPathComponent()
            let number = aldaba_watch_add(descriptor, parent.path)
            if number >= 0 { names[number, default: []].insert(url.lastPathComponent) }
            if number >= 0 || parent.path == "/" || parent.path == url.path { return folder.path }
            url = parent
        }
    }
}
