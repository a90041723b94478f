import Foundation

/// How much memory processes have that belongs to no file: what counts when there is too little.
package enum OwnMemory {
    /// How many processes are looked at together.
    private static let limit = 64

    /// That of a process and of those that it started; `nil` when there is no such process.
    package static func bytes(of process: pid_t) -> Int64? {
        guard let own = FileManager.default.contents(atPath: "/proc/\(process)/status").flatMap(bytes(inStatus:)) else {
            return nil
        }
        var all = [process]
        var sum = own
        var next = 0
        while next < all.count, all.count < limit {
            for child in children(of: all[next]).prefix(limit - all.count) {
                all.append(child)
                let status = FileManager.default.contents(atPath: "/proc/\(child)/status")
                sum = sum.addingReportingOverflow(status.flatMap(bytes(inStatus:)) ?? 0).partialValue
            }
            next += 1
        }
        return sum
    }

    /// The line `RssAnon` of `/proc/PID/status` (proc(5)), which the kernel gives in kibibytes.
    package static func bytes(inStatus text: Data) -> Int64? {
        for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: Data("RssAnon:".utf8)) {
            let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            guard words.count >= 2, let number = Int64(String(decoding: words[1], as: UTF8.self)) else { return nil }
            let (bytes, isTooMuch) = number.multipliedReportingOverflow(by: 1024)
            return isTooMuch || number < 0 ? nil : bytes
        }
        return nil
    }

    /// The processes that the threads of a process have started, where the kernel tells that.
    private static func children(of process: pid_t) -> [pid_t] {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        return tasks.flatMap { task in
            let text = FileManager.default.contents(atPath: "/proc/\(process)/task/\(task)/children") ?? Data()
            return text.split(separator: UInt8(ascii: " ")).compactMap {
                pid_t(String(decoding: $0, as: UTF8.self))
            }
        }
    }
}
