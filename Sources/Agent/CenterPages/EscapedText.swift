import CoreValues

/// Shows the characters of other people's texts that have no shape of their own, or that change the order in which others are read.
package enum EscapedText {
    /// The text, with controls of direction (UAX #9) as `⟨U+202E⟩`, and other controls except tabs and line feeds as U+FFFD.
    package static func of(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { isControl($0) || changesDirection($0) }) else { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if changesDirection(scalar) {
                let number = String(scalar.value, radix: 16, uppercase: true)
                let zeros = String(repeating: "0", count: max(0, 4 - number.count))
                shown.append(contentsOf: "⟨U+\(zeros)\(number)⟩".unicodeScalars)
            } else {
                shown.append(isControl(scalar) ? "\u{FFFD}" : scalar)
            }
        }
        return String(shown)
    }

    /// Whether a scalar is a control of direction; the marks are among them, since they move what stands beside them.
    private static func changesDirection(_ scalar: Unicode.Scalar) -> Bool {
        DirectionControls.contains(scalar) || scalar == "\u{200E}" || scalar == "\u{200F}" || scalar == "\u{061C}"
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\t", "\n": false
        case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}": true
        default: false
        }
    }
}
