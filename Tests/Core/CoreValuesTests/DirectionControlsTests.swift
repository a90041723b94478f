import CoreValues
import Testing

@Suite struct DirectionControlsTests {
    static let all = (Array(0x202A...0x202E) + Array(0x2066...0x2069)).compactMap(Unicode.Scalar.init)

    @Test(arguments: all)
    func `names and titles are shown without them`(control: Unicode.Scalar) {
        #expect(DirectionControls.removed(from: "Pay \(control)gpj.exe\(control)") == "Pay gpj.exe")
        #expect(DirectionControls.areIn("a\(control)"))
    }

    @Test(arguments: ["", "Milk", "שלום", "\u{200f}א\u{200e}", "👩‍👧 \u{61c}م", "a\r\nb"])
    func `other texts stay as they are, marks of direction among them`(text: String) {
        #expect(DirectionControls.removed(from: text) == text)
        #expect(DirectionControls.balanced(in: text) == text)
        #expect(!DirectionControls.areIn(text))
    }

    @Test(arguments: [
        ("\u{2068}Ann\u{2069} שלחה", "\u{2068}Ann\u{2069} שלחה"),
        ("\u{202B}a\u{202A}b\u{202C}c\u{202C}", "\u{202B}a\u{202A}b\u{202C}c\u{202C}"),
        ("\u{2067}a", "\u{2067}a\u{2069}"), ("\u{2067}a\nb", "\u{2067}a\u{2069}\nb"),
        ("\u{202B}a\u{2029}b", "\u{202B}a\u{202C}\u{2029}b"),
        ("a\u{2069}\u{202C}b", "ab"), ("\u{2066}a\u{202C}b\u{2069}", "\u{2066}ab\u{2069}"),
        ("\u{2066}\u{202B}a\u{2069}b\u{202C}", "\u{2066}\u{202B}a\u{202C}\u{2069}b"),
        ("\u{202E}gpj\u{202C}.exe", "gpj.exe"), ("\u{202D}a", "a"),
        ("\u{202A}a\u{202E}b\u{202C}c\u{202C}", "\u{202A}abc\u{202C}"),
    ])
    func `in a body each ends in its own paragraph, and none overrides letters`(text: String, body: String) {
        // Strings that differ in such characters alone would be equal to a reader of this test.
        #expect(Array(DirectionControls.balanced(in: text).unicodeScalars) == Array(body.unicodeScalars))
    }
}
