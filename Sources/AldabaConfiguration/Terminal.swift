import Foundation

/// Standard error, for all output except a command's result. The text may quote foreign input.
package enum Terminal {
    /// Writes a line.
    package static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data((TerminalText.lines(text) + "\n").utf8))
    }

    /// Writes what went wrong, under the command's name.
    package static func complain(_ text: String) { write("aldaba: \(text)") }
}
