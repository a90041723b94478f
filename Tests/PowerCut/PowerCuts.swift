import AldabaTestSupport
import Foundation

/// The cuts of the power that a test looks at: each a moment of a recording and a fate of what was not synced.
package enum PowerCuts {
    /// A folder in memory, where there is one: what is looked at need not be on a disk, and thousands of syncs take no time.
    private static var memory: URL {
        let memory = "/dev/shm"
        return FileManager.default.isWritableFile(atPath: memory)
            ? URL(fileURLWithPath: memory) : FileManager.default.temporaryDirectory
    }

    /// Cuts the power at every moment with every fate and has each looked at: a file for each one of the recording is written
    /// into a new folder, as the disk has it then. Fates that leave the same are looked at once.
    ///
    /// Every change of the recording is a moment, and so is its end.
    /// - Parameters:
    ///   - start: The number of changes that make the database ready. Of the moments before, each eighth is looked at: opening
    ///     a database that is not ready takes far longer.
    ///   - seed: Chooses what is lost and torn, where that is by chance.
    ///   - check: Gets the folder and the number of changes that were made by then.
    package static func each(
        of recording: [DiskChange], from start: Int = 0, seed: UInt64,
        check: (TemporaryFolder, Int) async throws -> Void
    ) async throws {
        var random = SeededGenerator(seed: seed)
        var disk = Disk()
        for made in 0...recording.count {
            if made > 0 { disk.make(recording[made - 1]) }
            guard made >= start || made.isMultiple(of: 8) else { continue }
            // Other tests have their turn on few cores.
            await Task.yield()
            var alreadyChecked: [[String: [UInt8]]] = []
            for fate in Disk.Fate.allCases {
                let left = disk.cut(fate, random: &random)
                guard !alreadyChecked.contains(left) else { continue }
                alreadyChecked.append(left)
                let folder = try TemporaryFolder(under: memory)
                for (path, bytes) in left {
                    try Data(bytes).write(to: folder.url.appendingPathComponent((path as NSString).lastPathComponent))
                }
                try await check(folder, made)
            }
        }
    }
}
