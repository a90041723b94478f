import CoreValues
import Foundation

/// A log, for the user, of what other devices did here and of what was requested from them, one line of JSON each. A
/// value.
///
/// Lines are buffered in memory until ``write()``, so that a command costs no system call.
///
/// Guarantees: the file is 0600 and is replaced at 1 MiB, after which the previous one is kept. It contains no address
/// and no content. At most 256 lines are buffered.
struct RelayLog {
    private static let fileLimit: off_t = 1 << 20
    private static let waitingLimit = 256
    private let path: String
    private var waiting: [Waiting] = []

    /// The parts of a queued line. It is formatted when it is written, since a client waits while the entry is noted.
    private struct Waiting {
        var entry: RelayLogEntry
        var name: String?
        var moment: Timestamp
    }

    /// The log in an agent's data folder.
    init(dataFolder: String) { path = dataFolder + "/relay-log.jsonl" }

    /// Notes something.
    ///
    /// - Parameters:
    ///   - name: The device's name.
    ///   - now: The present time.
    /// - Returns: Whether it is the first line that waits, and ``write()`` is to be called within a second.
    mutating func note(_ entry: RelayLogEntry, name: String?, at now: Timestamp) -> Bool {
        waiting.append(Waiting(entry: entry, name: name, moment: now))
        if waiting.count == Self.waitingLimit { write() }
        return waiting.count == 1
    }

    /// Writes the lines that wait. What cannot be written is lost.
    mutating func write() {
        guard !waiting.isEmpty else { return }
        defer { waiting.removeAll(keepingCapacity: true) }
        var status = stat()
        if stat(path, &status) == 0, status.st_size > Self.fileLimit { rename(path, path + ".1") }
        let number = Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard number >= 0 else { return }
        defer { close(number) }
        var lines: [UInt8] = []
        for line in waiting { Self.append(line, to: &lines) }
        _ = lines.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
    }

    /// The last lines, the oldest first.
    mutating func last(_ count: Int) -> [String] {
        write()
        let text = String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
        return text.split(separator: "\n").suffix(count).map(String.init)
    }

    private static func append(_ line: Waiting, to lines: inout [UInt8]) {
        let entry = line.entry
        let fields: [(name: StaticString, value: String?)] = [
            ("asker", entry.asker), ("at", line.moment.description), ("device", entry.device),
            ("id", entry.id?.uuidString.lowercased()), ("name", line.name), ("status", entry.status.rawValue),
            ("what", entry.what),
        ]
        var separator = UInt8(ascii: "{")
        for case (let field, let value?) in fields {
            lines.append(separator)
            lines += "\"\(field)\":".utf8
            append(value, to: &lines)
            separator = UInt8(ascii: ",")
        }
        lines += "}\n".utf8
    }

    /// Appends a string of JSON (RFC 8259, section 7).
    private static func append(_ text: String, to line: inout [UInt8]) {
        line.append(UInt8(ascii: "\""))
        defer { line.append(UInt8(ascii: "\"")) }
        let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        if isPlain { return line.append(contentsOf: text.utf8) }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): line += [UInt8(ascii: "\\"), byte]
            case ..<0x20:
                let digits = String(byte, radix: 16)
                line += "\\u\(digits.count == 1 ? "000" : "00")\(digits)".utf8
            default: line.append(byte)
            }
        }
    }
}
