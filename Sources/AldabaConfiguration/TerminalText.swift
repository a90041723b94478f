import CoreValues

/// Makes other people's text safe for a terminal: no character of it moves the cursor, sets a title or fakes a line.
package enum TerminalText {
    /// One line: breaks and tabs become blanks, other control characters (C0, DEL and C1) and those that change the direction
    /// of text U+FFFD.
    package static func line(_ text: String) -> String { shown(text, breaks: " ", tabs: " ") }

    /// A text of several lines, safe for a terminal: breaks become line feeds, and tabs stay. Other control characters, and
    /// those that change the direction of text, become U+FFFD.
    package static func lines(_ text: String) -> String { shown(text, breaks: "\n", tabs: "\t") }

    private static func shown(_ text: String, breaks: Unicode.Scalar, tabs: Unicode.Scalar) -> String {
        var shown = String.UnicodeScalarView()
        var last: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n" where last == "\r": break
            case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}": shown.append(breaks)
            case "\t": shown.append(tabs)
            case "\u{0}"..."\u{1f}", "\u{7f}"..."\u{9f}": shown.append("\u{fffd}")
            case _ where DirectionControls.contains(scalar): shown.append("\u{fffd}")
            default: shown.append(scalar)
            }
            last = scalar
        }
        return String(shown)
    }
}
