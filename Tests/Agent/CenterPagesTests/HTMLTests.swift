import Testing

@testable import CenterPages

@Test(arguments: [
    ("<b>&\"'", "&lt;b&gt;&amp;&quot;&#39;"), ("plain ñ 漢", "plain ñ 漢"), ("a\tb\nc", "a\tb\nc"),
    ("\u{202E}txt.exe", "⟨U+202E⟩txt.exe"), ("\u{2066}a\u{2069}", "⟨U+2066⟩a⟨U+2069⟩"), ("a\u{200F}b", "a⟨U+200F⟩b"),
    ("\u{61C}", "⟨U+061C⟩"), ("a\u{0}\u{1B}[1m\r", "a\u{FFFD}\u{FFFD}[1m\u{FFFD}"),
])
func `a text is escaped, and its controls are visible`(text: String, shown: String) {
    #expect(HTML(text: text).markup.unicodeScalars.elementsEqual(shown.unicodeScalars))
}

@Test func `a quotation mark with a combining character behind it ends no attribute`() {
    let markup = HTML.void("input", ["placeholder": "\"\u{301} autofocus onfocus=\"x"]).markup
    #expect(markup == "<input placeholder=\"&quot;\u{301} autofocus onfocus=&quot;x\">")
    #expect(markup.unicodeScalars.count { $0 == "\"" } == 2)
    #expect(!HTML(text: "<\u{338}script>").markup.unicodeScalars.contains("<"))
}

@Test func `an attribute without a value is left out, and pieces keep their order`() {
    let piece = HTML.element("p", ["class": nil, "hidden": ""]) {
        "one & "
        HTML.element("b") { "two" }
        for number in 3...4 { " \(number)" }
        if piecesAreMissing { "never" }
    }
    #expect(piece.markup == "<p hidden=\"\">one &amp; <b>two</b> 3 4</p>")
}

private let piecesAreMissing = false

@Test(arguments: ["com.example.todo", "", "a b/c?d&e=\r\n\"", "ñ漢🙂", "\u{202E}"])
func `an identifier passes a form and a path unchanged`(name: String) {
    let encoded = EncodedName.encode(name)
    #expect(
        encoded.utf8.allSatisfy {
            (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 45 || $0 == 95
        })
    #expect(EncodedName.decode(encoded) == name)
}

@Test(arguments: ["a", "%%%", "_w"])
func `what is no encoded identifier is refused`(text: String) { #expect(EncodedName.decode(text) == nil) }

@Test(
    arguments: [
        (nil, [:], "en"), (nil, ["LANG": "es_MX.UTF-8"], "es"), (nil, ["LANG": "es_ES", "LC_ALL": "C"], "en"),
        ("de, es;q=0.5, en;q=0.4", [:], "es"), ("en-GB,es", ["LANG": "es_ES"], "en"), ("es-419, en", [:], "es"),
        ("en;q=0.1, es;q=0.9", [:], "es"), ("es;q=0, en;q=0.1", [:], "en"), ("de", ["LANG": "es"], "es"),
        ("de", ["LANG": "fr_FR"], "en"), (";;,,q=", [:], "en"),
    ] as [(String?, [String: String], String)])
func `the browser's languages decide, and then the locale`(
    accepted: String?, environment: [String: String], language: String
) {
    #expect(PageLanguage.choose(accepted: accepted, environment: environment).rawValue == language)
}
