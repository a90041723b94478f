import Foundation

/// A process and those that it comes from.
package enum ProcessTree {
    /// How many steps are gone from a window's process to its app's.
    package static let limit = 16

    /// The process itself, its parent, and so on, but not the first one of the system.
    package static func line(of process: Int32, parent: (Int32) -> Int32?) -> [Int32] {
        var line = [process]
        while line.count <= limit, let last = line.last, let next = parent(last), next > 1 { line.append(next) }
        return line
    }

    /// A process's parent by `/proc/PID/stat`; `nil` where there is no such process.
    @Sendable package static func parent(of process: Int32) -> Int32? {
        FileManager.default.contents(atPath: "/proc/\(process)/stat").flatMap(parent(inStatus:))
    }

    /// The fourth field. The second is the program's name in parentheses and may hold anything.
    package static func parent(inStatus text: Data) -> Int32? {
        guard let end = text.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = text[text.index(after: end)...].split(separator: UInt8(ascii: " "))
        guard fields.count >= 2 else { return nil }
        return Int32(String(decoding: fields[fields.startIndex + 1], as: UTF8.self))
    }
}
