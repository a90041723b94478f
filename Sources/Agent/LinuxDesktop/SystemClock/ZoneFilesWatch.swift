import CLinux
import Foundation
import Platform

/// Notices other rules of time zones: changes in the folder of the zone files and in those within it, two levels deep,
/// as the names of zones are. Used by one thread at a time.
final class ZoneFilesWatch {
    /// Other forms of the same zones, which no setting names.
    private static let unnamed: Set<String> = ["posix", "right"]

    /// The descriptors to poll; negative ones where the system gives none: then no change is noticed.
    var descriptors: [Int32] { [descriptor, way.descriptor] }
    private let descriptor: Int32
    /// The watch on the path to the folder, which may be a link, or come later.
    private let way: FolderWatch
    private let folder: String

    /// Watches from now on.
    init(folder: String) {
        self.folder = folder
        way = FolderWatch(path: folder)
        descriptor = aldaba_watch_open()
        watch()
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Whether zones may have other rules than when it was asked last.
    func hasChanged() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        var isChanged = way.changes() != 0
        while read(descriptor, &buffer, buffer.count) > 0 { isChanged = true }
        if isChanged { watch() }
        return isChanged
    }

    /// Watches all folders there are; for one that is watched already nothing changes.
    private func watch() {
        guard descriptor >= 0, aldaba_watch_add(descriptor, folder, 1) >= 0 else { return }
        for region in Self.folders(in: folder) where !Self.unnamed.contains(region) {
            let path = "\(folder)/\(region)"
            guard aldaba_watch_add(descriptor, path, 1) >= 0 else { continue }
            for part in Self.folders(in: path) { _ = aldaba_watch_add(descriptor, "\(path)/\(part)", 1) }
        }
    }

    private static func folders(in path: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { name in
            var status = stat()
            return lstat("\(path)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        }
    }
}
