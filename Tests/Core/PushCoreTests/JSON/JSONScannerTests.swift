import AldabaTestSupport
import Foundation
import PushCore
import Testing

@Suite struct JSONScannerTests {
    @Test(arguments: [
        "{}", " \t\r\n{ } \n", #"{"aps":{"alert":"Hi"}}"#, #"{"a":[1,-0,0.5,1e9,-2.5E-3,true,false,null,[],{}]}"#,
        #"{"a":"\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00"}"#, #"{"é":"日本語 😀"}"#, #"{"a":{"b":{"c":[[[[]]]]}}}"#,
    ])
    func `a JSON object passes`(text: String) {
        #expect(JSONScanner.fault(inObject: Array(text.utf8)) == nil)
    }

    @Test(arguments: [
        ("", 0), ("[]", 0), ("\"a\"", 0), ("null", 0), ("{", 1), ("{\"a\"", 4), ("{\"a\":", 5), ("{\"a\":1", 6),
        ("{\"a\":1,}", 7), ("{a:1}", 1), ("{'a':1}", 1), ("{\"a\":01}", 6), ("{\"a\":1.}", 7), ("{\"a\":+1}", 5),
        ("{\"a\":.5}", 5), ("{\"a\":1e}", 7), ("{\"a\":tru}", 5), ("{\"a\":nul", 5), ("{\"a\":\"\n\"}", 6),
        ("{\"a\":\"\\x\"}", 6), ("{\"a\":\"\\u12g4\"}", 6), ("{\"a\":\"\\ud800\"}", 6),
        ("{\"a\":\"\\ud800\\u0041\"}", 12), ("{\"a\":\"\\udc00\"}", 6), ("{\"a\":1]", 6), ("{\"a\":[1}", 7),
        ("{} x", 3), ("{}{}", 2), ("{\"a\":\"b", 7), ("{\"a\" 1}", 5), ("{,}", 1), ("{\"a\":[,]}", 6),
        ("{\"a\":NaN}", 5), ("\u{FEFF}{}", 0),
    ])
    func `what is no JSON object is refused with the place of the fault`(text: String, offset: Int) {
        #expect(JSONScanner.fault(inObject: Array(text.utf8))?.offset == offset)
    }

    @Test(arguments: [
        "1e400", "-1e400", "1.7976931348623159e308", "100e307", "0.00001e314", "1e99999999999999999999",
        "1" + String(repeating: "0", count: 309), "-1" + String(repeating: "0", count: 309) + ".5",
    ])
    func `a number that no Double holds is refused where it begins`(number: String) {
        let fault = JSONScanner.fault(inObject: Array(#"{"a":[\#(number)]}"#.utf8))
        #expect(fault?.offset == 6 && fault?.message.hasPrefix("number out of range") == true)
        #expect(throws: JSONScanner.Fault.self) { try JSONValue(text: number) }
    }

    @Test(arguments: [
        "1.7976931348623157e308", "-1.7976931348623158e308", "1e-400", "4.9e-324", "0e400", "0.0e99999999999999999999",
        "1e-99999999999999999999", "10e307", "0.00001e313", "18446744073709551616", "-9223372036854775809",
        "1" + String(repeating: "0", count: 308), "0." + String(repeating: "0", count: 400) + "1",
        String(repeating: "9", count: 308) + "." + String(repeating: "9", count: 4000),
    ])
    func `a number within the range of Double passes, also one that is too small for it`(number: String) throws {
        let text = Array(#"{"a":\#(number)}"#.utf8)
        #expect(JSONScanner.fault(inObject: text) == nil)
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(text)) }
    }

    @Test(arguments: [
        [0xFF], [0xC0, 0x80], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80], [0xE2, 0x82],
        [0xF0, 0x9F, 0x98],
    ])
    func `text that is not UTF-8 is refused`(bytes: [UInt8]) {
        let body = Array("{\"a\":\"".utf8) + bytes + Array("\"}".utf8)
        #expect(JSONScanner.fault(inObject: body)?.offset == 6)
    }

    @Test func `nesting is bounded on both sides of the limit`() {
        func nested(_ depth: Int) -> [UInt8] {
            Array((#"{"a":"# + String(repeating: "[", count: depth - 1)).utf8)
                + Array((String(repeating: "]", count: depth - 1) + "}").utf8)
        }
        #expect(JSONScanner.fault(inObject: nested(JSONScanner.maximumDepth)) == nil)
        #expect(JSONScanner.fault(inObject: nested(JSONScanner.maximumDepth + 1)) != nil)
    }

    @Test func `it agrees with Foundation's parser on mutated payloads`() {
        var random = SeededGenerator(seed: 42)
        let seed = Array(
            #"{"aps":{"alert":{"title":"a","body":"b\u00e9"},"badge":1.5e2,"x":[true,null,{}]},"é":"ü"}"#.utf8
        )
        var disagreements: [String] = []
        for _ in 0..<20_000 {
            var bytes = seed
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes.remove(at: place)
                case 1: bytes[place] = Array("{}[]\":,0a\\ e-".utf8).randomElement(using: &random) ?? 0
                default: bytes.insert(seed[place % seed.count], at: place)
                }
            }
            let ours = JSONScanner.fault(inObject: bytes) == nil
            let theirs = (try? JSONSerialization.jsonObject(with: Data(bytes))) is [String: Any]
            let text = String(decoding: bytes, as: UTF8.self)
            // Foundation passes a comma before a closing brace or bracket over; RFC 8259 has no such thing.
            let hasTrailingComma = text.contains(",}") || text.contains(",]")
            if ours != theirs && !(theirs && hasTrailingComma) { disagreements.append(text) }
        }
        #expect(disagreements.isEmpty)
    }
}
