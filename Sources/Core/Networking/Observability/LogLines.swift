import CoreValues
import Glibc

/// The output of a log's lines: each remains one line, whatever untrusted text it contains.
///
/// Control characters, other line ends and characters that change the direction of text are written as `\n`, `\r`, `\t`
/// or `\u{HEX}`. So no path, name or answer fakes a line of its own, reads otherwise than it is, or moves a cursor.
struct LogLines: TextOutputStream, Sendable {
    let take: @Sendable (String) -> Void

    /// - Parameter take: Receives every line with its line feed, in one piece.
    init(_ take: @escaping @Sendable (String) -> Void) { self.take = take }

    /// The output to the process's standard error; a line that cannot be written is lost.
    static let standardError = LogLines { line in
        var bytes = Array(line.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count > 0 { bytes = bytes.dropFirst(count) } else if count == 0 || errno != EINTR { return }
        }
    }

    /// - Parameter line: A line, with or without its line feed.
    mutating func write(_ line: String) {
        take(Self.escaped(line.last == "\n" ? line.dropLast() : line[...]) + "\n")
    }

    /// The text with all characters escaped that a reader of lines or a terminal would not treat as text.
    static func escaped(_ text: some StringProtocol) -> String {
        var line = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": line += "\\n"
            case "\r": line += "\\r"
            case "\t": line += "\\t"
            case "\u{0}"..."\u{1f}", "\u{7f}"..."\u{9f}", "\u{2028}", "\u{2029}":
                line += "\\u{\(String(scalar.value, radix: 16))}"
            case _ where DirectionControls.contains(scalar): line += "\\u{\(String(scalar.value, radix: 16))}"
            default: line.unicodeScalars.append(scalar)
            }
        }
        return line
    }
}
