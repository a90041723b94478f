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

    /// Whether there is a process of this id that has not ended.
    @Sendable package static func isRunning(_ process: Int32) -> Bool {
        FileManager.default.contents(atPath: "/proc/\(process)/stat").map(isRunning(inStatus:)) ?? false
    }

    /// The state in the third field: a zombie has ended, and its parent has not noticed that.
    package static func isRunning(inStatus text: Data) -> Bool {
        fields(of: text).first.map { $0 != "Z" && $0 != "X" } ?? false
    }

    /// The parent in the fourth field. The second is the program's name in parentheses, which may contain any
    /// character.
    package static func parent(inStatus text: Data) -> Int32? {
        fields(of: text).dropFirst().first.flatMap { Int32($0) }
    }

    private static func fields(of status: Data) -> [String] {
        guard let end = status.lastIndex(of: UInt8(ascii: ")")) else { return [] }
        return status[status.index(after: end)...].split(separator: UInt8(ascii: " ")).prefix(2)
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
