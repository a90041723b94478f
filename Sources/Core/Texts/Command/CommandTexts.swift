/// The command line's texts in a language, found by the English ones, which stand in its sources.
package struct CommandTexts: Sendable {
    /// The language of the texts.
    package let language: Language

    private let plain: [String: String]
    private let patterns: [TextPattern]

    private static let english = CommandTexts(.english, [])
    private static let spanish = CommandTexts(.spanish, sections)

    /// The texts of a language.
    package static func of(_ language: Language) -> CommandTexts {
        switch language {
        case .english: english
        case .spanish: spanish
        }
    }

    private init(_ language: Language, _ sections: [CommandSection]) {
        self.language = language
        var plain: [String: String] = [:]
        var patterns: [TextPattern] = []
        for pair in sections.flatMap(\.pairs) {
            if let pattern = TextPattern(pair.english, translation: pair.spanish) {
                patterns.append(pattern)
            } else {
                plain[pair.english] = pair.spanish
            }
        }
        self.plain = plain
        self.patterns = patterns
    }

    /// A text in the language, line by line. A line that has no translation stays as it is.
    package func text(_ english: String) -> String {
        guard language != .english else { return english }
        return english.split(separator: "\n", omittingEmptySubsequences: false)
            .map { line($0) ?? String($0) }.joined(separator: "\n")
    }

    /// A line in the language, with its indentation; `nil` where it has no translation.
    package func line(_ english: Substring) -> String? {
        let text = english.drop { $0 == " " }
        return known(text, depth: 0).map { english[..<text.startIndex] + $0.text }
    }

    /// The translation that covers the most of a text.
    ///
    /// - Parameter depth: How many texts this one is a part of. The limit keeps a line with many colons quick.
    private func known(_ text: Substring, depth: Int) -> Translation? {
        if let plain = plain[String(text)] { return Translation(text: plain, count: text.count) }
        guard depth < 3 else { return nil }
        return patterns.compactMap { $0.translation(of: text) { known($0, depth: depth + 1) } }.max {
            $0.count < $1.count
        }
    }
}
