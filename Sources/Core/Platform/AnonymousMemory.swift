import Foundation

/// The memory of processes that belongs to no file, which is what counts when memory is short.
package enum AnonymousMemory {
    /// The maximum number of processes that are counted together.
    private static let limit = 64

    /// The memory of a process and of those that it started, in bytes; `nil` when there is no such process.
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

    /// The value of the line `RssAnon` of `/proc/PID/status` (proc(5)), which the kernel writes in kibibytes.
    package static func bytes(inStatus text: Data) -> Int64? {
        for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: Data("RssAnon:".utf8)) {
            let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            guard words.count >= 2, let number = Int64(String(decoding: words[1], as: UTF8.self)) else { return nil }
            let (bytes, isTooMuch) = number.multipliedReportingOverflow(by: 1024)
            return isTooMuch || number < 0 ? nil : bytes
        }
        return nil
    }

    /// The processes that the threads of a process have started, where the kernel provides that.
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
