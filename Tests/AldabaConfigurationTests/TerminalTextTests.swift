import AldabaConfiguration
import Testing

/// What notifications and apps say, as it is written to a terminal.
struct TerminalTextTests {
    @Test(arguments: [
        ("Milk", "Milk", "Milk"), ("", "", ""), ("Käse 🧀 👩‍👧 \u{200f}א", "Käse 🧀 👩‍👧 \u{200f}א", "Käse 🧀 👩‍👧 \u{200f}א"),
        ("\u{1b}]0;title\u{7}", "\u{fffd}]0;title\u{fffd}", "\u{fffd}]0;title\u{fffd}"),
        ("\u{1b}[31mred", "\u{fffd}[31mred", "\u{fffd}[31mred"), ("\u{9b}31mred", "\u{fffd}31mred", "\u{fffd}31mred"),
        ("a\u{8}\u{7f}\0", "a\u{fffd}\u{fffd}\u{fffd}", "a\u{fffd}\u{fffd}\u{fffd}"),
        ("one\ntwo\r\nthree\rfour", "one two three four", "one\ntwo\nthree\nfour"),
        ("a\u{85}b\u{2028}c\u{2029}d\te", "a b c d e", "a\nb\nc\nd\te"),
        ("\n\r", "  ", "\n\n"),
        ("a\u{202e}b\u{2066}c\u{2069}", "a\u{fffd}b\u{fffd}c\u{fffd}", "a\u{fffd}b\u{fffd}c\u{fffd}"),
    ])
    func `no control character reaches it raw`(text: String, line: String, lines: String) {
        #expect(TerminalText.line(text) == line)
        #expect(TerminalText.lines(text) == lines)
    }
}
