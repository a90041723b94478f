/// A translation, and how many characters of the English text it covers.
struct Translation {
    var text: String
    var count: Int
}

/// An English text with placeholders, and its translation.
struct TextPattern: Sendable {
    /// The names whose values are texts.
    private static let texts: Set<String> = ["what", "reason", "remedy"]

    /// The text between the placeholders; one more than these.
    private let pieces: [String]
    private let names: [String]
    private let translation: String

    /// The length of the text that does not vary.
    private let fixedCount: Int
    /// Whether nothing but punctuation does not vary.
    private let isPunctuation: Bool

    /// Reads the placeholders; `nil` where the text has none.
    init?(_ english: String, translation: String) {
        var pieces: [String] = []
        var names: [String] = []
        var rest = english[...]
        while let start = rest.firstIndex(of: "{"), let end = rest[start...].firstIndex(of: "}") {
            pieces.append(String(rest[..<start]))
            names.append(String(rest[start...].dropFirst().prefix { $0 != "}" }))
            rest = rest[rest.index(after: end)...]
        }
        guard !names.isEmpty else { return nil }
        pieces.append(String(rest))
        self.pieces = pieces
        self.names = names
        self.translation = translation
        fixedCount = pieces.reduce(0) { $0 + $1.count }
        isPunctuation = !pieces.contains { $0.contains { $0.isLetter } }
    }

    /// The translation of a text; `nil` where it is not of this form.
    ///
    /// - Parameter known: The translation of a value that is a text.
    func translation(of text: Substring, known: (Substring) -> Translation?) -> Translation? {
        guard let found = values(in: text) else { return nil }
        var values: [String: String] = [:]
        var count = fixedCount
        var isKnown = !isPunctuation
        for (name, value) in zip(names, found) {
            let part = Self.texts.contains(name) ? known(value) : nil
            if part != nil { isKnown = true }
            count += part?.count ?? 0
            values[name] = part?.text ?? String(value)
        }
        return isKnown ? Translation(text: Catalogue.fill(translation, with: values), count: count) : nil
    }

    /// The values of the placeholders, each as short as possible and not empty.
    private func values(in text: Substring) -> [Substring]? {
        guard text.utf8.starts(with: pieces[0].utf8), let last = pieces.last, text.hasSuffix(last) else { return nil }
        var rest = text.utf8.dropFirst(pieces[0].utf8.count)
        guard rest.count > last.utf8.count else { return nil }
        rest = rest.dropLast(last.utf8.count)
        var values: [Substring] = []
        for piece in pieces.dropFirst().dropLast() {
            guard let place = rest.dropFirst().firstRange(of: piece.utf8) else { return nil }
            values.append(text[rest.startIndex..<place.lowerBound])
            rest = rest[place.upperBound...]
        }
        return rest.isEmpty ? nil : values + [text[rest.startIndex..<rest.endIndex]]
    }
}
