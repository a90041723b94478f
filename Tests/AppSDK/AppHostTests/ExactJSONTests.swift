import Foundation
import Testing

@testable import AppHost

@Suite struct ExactJSONTests {
    @Test(arguments: [
        ("{\"\u{FEFF}aps\":1}", ["\u{FEFF}aps": 1]), (#"{"\uFEFFaps":1}"#, ["\u{FEFF}aps": 1]),
        (#"{"aps":1}"#, ["aps": 1]),
    ])
    func `a byte order mark before a name is part of it`(text: String, members: [String: Int]) {
        #expect(JSONSerialization.exactObject(text) as? [String: Int] == members)
    }

    @Test func `a byte order mark in a string is part of it`() {
        let text = "{\"a\":\"\u{FEFF}x\u{FEFF}\"}"
        #expect(JSONSerialization.exactObject(text) as? [String: String] == ["a": "\u{FEFF}x\u{FEFF}"])
    }

    @Test(arguments: ["[]", "", "\u{FEFF}{}", "{\"a\":"]) func `a text that is no object is nothing`(text: String) {
        #expect(JSONSerialization.exactObject(text) == nil)
    }
}
