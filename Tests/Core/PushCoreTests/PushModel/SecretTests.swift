import AldabaTestSupport
import PushCore
import Testing

@Suite struct SecretTests {
    private struct Login: Hashable {
        var name: String
        @Secret var key: String
        @Secret var number: UInt64?
    }

    @Test func `a secret is shown nowhere, alone or as a part`() {
        let login = Login(name: "todo", key: "kept", number: 4711)
        for text in [
            shown(Secret("kept")), shown(Secret<UInt64>(4711)), shown(login), shown([login]), shown(["a": login]),
            shown(Optional(login) as Any), shown((1, Secret("kept"))),
        ] {
            #expect(!text.contains("kept") && !text.contains("4711"))
            #expect(text.contains("<redacted>"))
        }
        #expect(shown(login).contains("todo"))
    }

    @Test func `a secret is its value to those who ask for it`() {
        var login = Login(name: "todo", key: "kept", number: nil)
        #expect(login.key == "kept")
        login.key = "other"
        #expect(login != Login(name: "todo", key: "kept", number: nil))
        #expect(Secret("a") == Secret("a") && Secret("a").hashValue == Secret("a").hashValue)
    }
}
