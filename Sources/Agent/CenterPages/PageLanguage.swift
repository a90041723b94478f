/// The languages that the pages have.
package enum PageLanguage: String, Sendable, CaseIterable {
    /// English.
    case english = "en"
    /// Spanish.
    case spanish = "es"

    /// The language of a request: the first choice of the browser (RFC 9110, section 12.5.4) among those that the pages have, else that
    /// of the person's locale, else English.
    ///
    /// - Parameters:
    ///   - accepted: The field `Accept-Language`; `nil` where there is none.
    ///   - environment: The variables of the command, of which `LC_ALL`, `LC_MESSAGES` and `LANG` count, in this order.
    package static func choose(accepted: String?, environment: [String: String]) -> PageLanguage {
        let choices = (accepted ?? "").split(separator: ",").compactMap { part -> (PageLanguage, Double)? in
            let pieces = part.split(separator: ";").map { $0.filter { $0 != " " } }
            guard let language = pieces.first.flatMap(of) else { return nil }
            let weight = pieces.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            return weight > 0 ? (language, weight) : nil
        }
        // The first of the same weight counts.
        if let best = choices.map(\.1).max(), let choice = choices.first(where: { $0.1 == best }) { return choice.0 }
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        return locale.flatMap(of) ?? .english
    }

    /// The language of a tag such as `es-MX`, or of a locale such as `es_MX.UTF-8`.
    private static func of(_ tag: String) -> PageLanguage? {
        PageLanguage(rawValue: tag.lowercased().split { "-_.@".contains($0) }.first.map(String.init) ?? "")
    }

    /// The texts in this language.
    package var texts: PageTexts { self == .spanish ? .spanish : .english }
}
