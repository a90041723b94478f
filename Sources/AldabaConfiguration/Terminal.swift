import Foundation
import Texts

/// Standard error, for all output except a command's result. The text may quote foreign input.
package enum Terminal {
    /// The command line's texts in the language of the environment.
    package static let texts = CommandTexts.of(Language(environment: ProcessInfo.processInfo.environment))

    /// A text in the language of the environment.
    package static func text(_ english: String) -> String { texts.text(english) }

    /// Writes a line.
    package static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data((TerminalText.lines(Self.text(text)) + "\n").utf8))
    }

    /// Writes what went wrong, under the command's name.
    package static func printError(_ text: String) { write("aldaba: \(Self.text(text))") }
}
