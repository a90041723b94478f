/// A part of the command line's texts: pairs of lines, the English text and below it the Spanish one, with a blank line
/// between two pairs.
///
/// A placeholder in braces, `{path}`, stands for a part that varies. What stands for `{what}`, `{reason}` or `{remedy}` is a
/// text itself and is translated too.
package struct CommandSection: Sendable {
    private let lines: String

    /// Makes a section of its lines.
    package init(_ lines: String) { self.lines = lines }

    /// The pairs, in their order.
    package var pairs: [(english: String, spanish: String)] {
        let lines = lines.split(separator: "\n").map(String.init)
        return stride(from: 0, to: lines.count - 1, by: 2).map { (lines[$0], lines[$0 + 1]) }
    }

    /// The number of lines; twice that of the pairs.
    package var lineCount: Int { lines.split(separator: "\n").count }
}
