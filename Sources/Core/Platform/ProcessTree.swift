import Foundation

/// A process and its ancestors.
package enum ProcessTree {
    /// The maximum number of steps from a window's process to its app's.
    package static let limit = 16

    /// The process itself, its parent, and so on, except the system's first process.
    package static func line(of process: Int32, parent: (Int32) -> Int32?) -> [Int32] {
        var line = [process]
        while line.count <= limit, let last = line.last, let next = parent(last), next > 1 { line.append(next) }
        return line
    }

    /// The parent of a process according to `/proc/PID/stat`; `nil` where there is no such process.
    @Sendable package static func parent(of process: Int32) -> Int32? {
        FileManager.default.contents(atPath: "/proc/\(process)/stat").flatMap(parent(inStatus:))
    }

    /// The parent in the fourth field. The second is the program's name in parentheses, which may contain any
    /// character.
    package static func parent(inStatus text: Data) -> Int32? {
        guard let end = text.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = text[text.index(after: end)...].split(separator: UInt8(ascii: " "))
        guard fields.count >= 2 else { return nil }
        return Int32(String(decoding: fields[fields.startIndex + 1], as: UTF8.self))
    }
}
