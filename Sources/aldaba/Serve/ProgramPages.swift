import Foundation
import Glibc

/// The pages of the program's and its libraries' code that are mapped.
enum ProgramPages {
    /// Unmaps the code that only the start needed. What is needed again is mapped again from its file, at the cost of a page
    /// fault.
    static func giveBackCode() {
        // Without the file the code stays mapped.
        guard let maps = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8) else { return }
        for line in maps.split(separator: "\n") where line.contains("/") {
            let fields = line.split(separator: " ", maxSplits: 2)
            let range = fields.first?.split(separator: "-").compactMap { UInt(String($0), radix: 16) } ?? []
            // Code is never written, so that the file has all of it. Data that was relocated must stay.
            guard range.count == 2, fields[1] == "r-xp", let start = UnsafeMutableRawPointer(bitPattern: range[0])
            else { continue }
            madvise(start, Int(range[1] - range[0]), MADV_DONTNEED)
        }
    }
}
