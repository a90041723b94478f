/// A part of the catalogues: the same keys in each language.
///
/// A line is `key = text`. A text with a number has a line for each form, `key.one` and `key.other`, in Spanish also `key.many`.
/// Placeholders are in braces, `{count}`. Blank lines, and lines that begin with `#`, are skipped.
package struct CatalogueSection: Sendable {
    let english: String
    let spanish: String

    /// Makes a section of its lines in each language.
    package init(english: String, spanish: String) {
        self.english = english
        self.spanish = spanish
    }

    func lines(_ language: Language) -> String {
        switch language {
        case .english: english
        case .spanish: spanish
        }
    }
}

/// The texts of a language by their keys.
package struct Catalogue: Sendable {
    /// The language of the texts.
    package let language: Language
    /// The texts by key.
    package let texts: [String: String]

    private static let english = Catalogue(.english)
    private static let spanish = Catalogue(.spanish)

    /// The catalogue of a language.
    package static func of(_ language: Language) -> Catalogue {
        switch language {
        case .english: english
        case .spanish: spanish
        }
    }

    private init(_ language: Language) {
        self.language = language
        var texts: [String: String] = [:]
        for section in Self.sections { texts.merge(Self.read(section.lines(language))) { first, _ in first } }
        self.texts = texts
    }

    /// Reads lines of the form `key = text`.
    package static func read(_ lines: String) -> [String: String] {
        var texts: [String: String] = [:]
        for line in lines.split(separator: "\n") where !line.hasPrefix("#") {
            guard let end = line.firstRange(of: " = ") else { continue }
            texts[String(line[..<end.lowerBound])] = String(line[end.upperBound...])
        }
        return texts
    }

    /// The text of a key with its placeholders replaced; the key itself where there is no text.
    package func text(_ key: String, _ values: [String: String] = [:]) -> String {
        guard let text = texts[key] else { return key }
        return values.isEmpty ? text : Self.fill(text, with: values)
    }

    /// The text of a key in the form for a number, which is also the value of `{count}`.
    package func text(_ key: String, count: Int, _ values: [String: String] = [:]) -> String {
        let form = language.pluralForm(of: count)
        let chosen = texts["\(key).\(form.rawValue)"] == nil ? PluralForm.other : form
        var values = values
        values["count"] = language.number(count)
        return text("\(key).\(chosen.rawValue)", values)
    }

    static func fill(_ text: String, with values: [String: String]) -> String {
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: "{") {
            result += rest[..<start]
            guard let end = rest[start...].firstIndex(of: "}") else { break }
            let name = String(rest[rest.index(after: start)..<end])
            result += values[name] ?? "{\(name)}"
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }
}
