import Glibc
import Texts

/// A help screen of the parser in another language. The parser breaks lines before they could be translated, so it is asked
/// for lines that are wide enough for every text, and they are broken here.
package enum HelpScreen {
    /// More columns than any text has.
    package static let wide = 100_000

    /// The column at which the texts of options begin.
    private static let textColumn = 26

    /// Whether a message of the parser is a help screen; others are a version, completions and JSON.
    package static func isHelp(_ message: String) -> Bool {
        message.hasPrefix("OVERVIEW: ") || message.hasPrefix("USAGE: ")
    }

    /// The screen in the language of the texts.
    ///
    /// - Parameters:
    ///   - screen: The screen in English, with lines of ``wide`` columns.
    ///   - columns: The columns that its lines may have.
    package static func translate(_ screen: String, texts: CommandTexts, columns: Int) -> String {
        screen.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            if line.hasPrefix("USAGE: ") { return texts.text(String(line)) }
            for label in labels(of: line) {
                guard let text = texts.line(line[label.endIndex...]) else { continue }
                return wrap(shown(label, texts) + text, columns: columns, indentation: label.count)
            }
            return wrap(texts.text(String(line)), columns: columns, indentation: 0)
        }.joined(separator: "\n")
    }

    /// The columns of standard output: those that `COLUMNS` names, else the terminal's, else 80.
    package static func columns(environment: [String: String]) -> Int {
        if let columns = environment["COLUMNS"].flatMap(Int.init), columns > 0 { return columns }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// The possible beginnings of a line before its text: the label of an option, or the example of a comment.
    private static func labels(of line: Substring) -> [Substring] {
        guard line.hasPrefix("  ") else { return [] }
        var labels: [Substring] = []
        let label = line.prefix(textColumn)
        if label.last == " ", line[label.endIndex...].first.map({ $0 != " " }) ?? false { labels.append(label) }
        let body = line.drop { $0 == " " }
        if let gap = body.ranges(of: "  ").last { labels.append(line[..<gap.upperBound]) }
        return labels
    }

    /// A label in the language, as wide as it was.
    private static func shown(_ label: Substring, _ texts: CommandTexts) -> String {
        let end = label.lastIndex { $0 != " " }.map(label.index(after:)) ?? label.startIndex
        let text = texts.line(label[..<end]) ?? String(label[..<end])
        return text + String(repeating: " ", count: max(1, label.count - text.count))
    }

    /// Breaks a line at spaces.
    private static func wrap(_ line: String, columns: Int, indentation: Int) -> String {
        let indentation = indentation <= columns / 2 ? indentation : 0
        var lines: [String] = []
        var rest = line[...]
        while rest.count > columns {
            guard let end = rest.prefix(columns + 1).lastIndex(of: " "), rest[..<end].contains(where: { $0 != " " })
            else { break }
            lines.append(String(rest[..<end]))
            let next = rest[end...].drop { $0 == " " }
            rest = (String(repeating: " ", count: indentation) + next)[...]
        }
        return (lines + [String(rest)]).joined(separator: "\n")
    }
}
