/// A tag of an installation: 1 to 120 of letters, digits and `_@#.:-`. Its spelling is kept; two that differ in case
/// are one tag.
package struct TagName: Hashable, Sendable, CustomStringConvertible {
    /// The tag as it was written.
    package let text: String
    /// The tag in lower case, by which it is compared.
    package let folded: String

    /// The most characters that a tag may have.
    package static let longest = 120

    /// Reads a tag; `nil` for a text that cannot be one.
    package init?(_ text: String) {
        guard Self.fault(in: text) == nil else { return nil }
        self.text = text
        folded = text.lowercased()
    }

    /// Why a text is no tag; `nil` where it is one.
    package static func fault(in text: String) -> String? {
        if text.isEmpty { return "a tag has 1 to \(longest) characters, this one has none" }
        if let wrong = text.unicodeScalars.first(where: { !isTagCharacter($0) }) {
            return "\"\(wrong)\" cannot stand in a tag; letters, digits and _ @ # . : - can"
        }
        if text.utf8.count > longest { return "a tag has 1 to \(longest) characters, this one has \(text.utf8.count)" }
        return nil
    }

    /// Whether a character is allowed in a tag.
    package static func isTagCharacter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "@", "#", ".", ":", "-": true
        default: false
        }
    }

    package static func == (left: TagName, right: TagName) -> Bool { left.folded == right.folded }

    package func hash(into hasher: inout Hasher) { hasher.combine(folded) }

    package var description: String { text }
}
