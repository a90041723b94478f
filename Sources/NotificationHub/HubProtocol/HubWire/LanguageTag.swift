/// Names of languages as installations and contents write them: `de`, `de-AT`, `de_AT`, `zh-Hant-TW`.
enum LanguageTag {
    /// The canonical spelling of a name: lower case, with hyphens between its parts.
    static func folded(_ name: String) -> String { name.lowercased().replacing("_", with: "-") }

    /// A name and those that are less exact, the most exact first, as lookup has it (RFC 4647, section 3.4):
    /// `zh-hant-tw`, `zh-hant`, `zh`.
    static func lookup(_ name: String) -> [String] {
        var parts = folded(name).split(separator: "-", omittingEmptySubsequences: false)
        var names: [String] = []
        while !parts.isEmpty {
            names.append(parts.joined(separator: "-"))
            parts.removeLast()
            // A single letter introduces an extension, and is removed with it.
            if let last = parts.last, last.count == 1, parts.count > 1 { parts.removeLast() }
        }
        return names
    }
}
