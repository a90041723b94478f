import AldabaTestSupport
import Foundation

/// The cuts of the power that a test looks at: each a moment of a recording and a fate of what was not synced.
public enum PowerCuts {
    /// The environment variable that asks for every moment with every fate, when it is set.
    public static let allVariable = "ALDABA_EVERY_POWER_CUT"

    /// Cuts the power at many moments and has each looked at: a file for each one of the recording is written into a new
    /// folder, as the disk has it then.
    ///
    /// Every change of the recording is a moment, and so is its end. When there are more than `samples`, the seed chooses.
    /// - Parameter check: Gets the folder and the number of changes that were made by then.
    public static func each(
        of recording: [DiskChange], samples: Int, seed: UInt64, check: (TemporaryFolder, Int) async throws -> Void
    ) async throws {
        var random = SeededGenerator(seed: seed)
        let isEvery = ProcessInfo.processInfo.environment[allVariable] != nil
        let moments = Array(0...recording.count)
        let chosen = Set(isEvery ? moments : Array(moments.shuffled(using: &random).prefix(samples)))
        var disk = Disk()
        for made in moments {
            if made > 0 { disk.make(recording[made - 1]) }
            guard chosen.contains(made) else { continue }
            let fates = isEvery ? Disk.Fate.allCases : [Disk.Fate.allCases[Int(random.next() % 3)]]
            for fate in fates {
                let folder = try TemporaryFolder()
                for (path, bytes) in disk.cut(fate, random: &random) {
                    try Data(bytes).write(to: folder.url.appendingPathComponent((path as NSString).lastPathComponent))
                }
                try await check(folder, made)
            }
        }
    }
}
