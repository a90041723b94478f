/// The characters that embed, override or isolate the direction of a text (UAX #9, sections 2.1 to 2.4): U+202A to U+202E, and
/// U+2066 to U+2069.
///
/// The marks U+200E, U+200F and U+061C are none of them: they order nothing but themselves.
package enum DirectionControls {
    /// Whether a scalar is one of them.
    package static func contains(_ scalar: Unicode.Scalar) -> Bool {
        (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
    }

    /// Whether a text has one of them.
    package static func areIn(_ text: String) -> Bool { text.unicodeScalars.contains(where: contains) }

    /// The text without them, for names, titles and labels.
    package static func removed(from text: String) -> String {
        guard areIn(text) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.filter { !contains($0) }))
    }

    /// The text with those alone that do no harm, for bodies.
    ///
    /// Embeddings and isolates stay, and each ends within its paragraph. Overrides are removed, which let letters read in another
    /// order than they stand; so is an end without a beginning.
    package static func balanced(in text: String) -> String {
        guard areIn(text) else { return text }
        var balance = Balance()
        for scalar in text.unicodeScalars { balance.take(scalar) }
        return balance.finished()
    }

    /// The controls that are open while a text is read.
    private struct Balance {
        private enum Opened {
            case embedding
            case override
            case isolate
        }

        private var text = String.UnicodeScalarView()
        private var opened: [Opened] = []

        mutating func take(_ scalar: Unicode.Scalar) {
            switch scalar {
            case "\u{202A}", "\u{202B}": open(.embedding, scalar)
            case "\u{202D}", "\u{202E}": opened.append(.override)
            case "\u{2066}", "\u{2067}", "\u{2068}": open(.isolate, scalar)
            case "\u{202C}":
                if let last = opened.last, last != .isolate { close() }
            case "\u{2069}":
                guard let isolate = opened.lastIndex(of: .isolate) else { return }
                while opened.count > isolate { close() }
            case "\n", "\r", "\u{1C}"..."\u{1E}", "\u{85}", "\u{2029}":
                while !opened.isEmpty { close() }
                text.append(scalar)
            default: text.append(scalar)
            }
        }

        mutating func finished() -> String {
            while !opened.isEmpty { close() }
            return String(text)
        }

        private mutating func open(_ kind: Opened, _ scalar: Unicode.Scalar) {
            opened.append(kind)
            text.append(scalar)
        }

        private mutating func close() {
            switch opened.removeLast() {
            case .embedding: text.append("\u{202C}")
            case .isolate: text.append("\u{2069}")
            case .override: break
            }
        }
    }
}
