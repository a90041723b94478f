import PushCore
import Testing

@Suite struct ExtensionNoteTests {
    @Test(
        arguments: [
            (nil, "1.0", "version 1.0", "1.0"), ("no text", "2 beta", "no text; version 2 beta", "2 beta"),
            ("a; version 9", nil, "a; version 9", "9"), ("no text", nil, "no text", nil), (nil, nil, nil, nil),
            (nil, "ü", "version ü", nil), (nil, "", "version ", nil), (nil, "a\nb", "version a\nb", nil),
            (
                nil, String(repeating: "7", count: 40), "version " + String(repeating: "7", count: 32),
                String(repeating: "7", count: 32)
            ),
        ] as [(String?, String?, String?, String?)])
    func `a timeline's note tells the version`(own: String?, version: String?, note: String?, read: String?) {
        #expect(ExtensionOutcome.note(own, version: version) == note)
        #expect(ExtensionOutcome.version(note: note) == read)
    }
}
