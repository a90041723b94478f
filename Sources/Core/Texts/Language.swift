/// A language that pages and messages have.
package enum Language: String, Sendable, CaseIterable {
    /// English.
    case english = "en"
    /// Spanish.
    case spanish = "es"

    /// The language's name in itself.
    package var ownName: String {
        switch self {
        case .english: "English"
        case .spanish: "Español"
        }
    }

    /// The language that a field `Accept-Language` prefers (RFC 9110, section 12.5.4); English where it names none of these.
    package init(acceptLanguage field: String?) {
        var best: (language: Language, weight: Double)?
        for part in (field ?? "").split(separator: ",").prefix(20) {
            let pieces = part.split(separator: ";").map { $0.trimmingSpaces }
            guard let range = pieces.first, let language = Language(range: range) else { continue }
            let weight = pieces.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            guard weight > 0, weight > best?.weight ?? 0 else { continue }
            best = (language, weight)
        }
        self = best?.language ?? .english
    }

    /// The language of a process's messages, by the variables `LC_ALL`, `LC_MESSAGES` and `LANG` (POSIX.1-2024, section 8.2).
    package init(environment: [String: String]) {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        self = locale.flatMap { Language(range: $0[...]) } ?? .english
    }

    /// Reads `es`, `es-MX` or `es_ES.UTF-8`; `nil` for another language.
    private init?(range: Substring) {
        self.init(rawValue: range.prefix { $0.isLetter }.lowercased())
    }
}

extension Substring {
    fileprivate var trimmingSpaces: Substring {
        var text = self
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}
