import APNsProtocol
import AldabaTestSupport
import PushCore
import Testing

/// One payload that is nearly right.
struct NearlyRight: Sendable, CustomTestStringConvertible {
    var payload: String
    var place: String
    var what: String
    var meant: String?
    var testDescription: String { payload.debugDescription }

    init(_ payload: String, _ place: String, _ what: String, _ meant: String?) {
        self.payload = payload
        self.place = place
        self.what = what
        self.meant = meant
    }

    /// Those that are no JSON.
    static let syntax = [
        NearlyRight(#"{"aps":{"alert":"Hi",}}"#, "1:21", "a comma before '}'", "leave the comma out"),
        NearlyRight("{\n  \"aps\": {\"alert\": \"Hi\"},\n}\n", "2:25", "a comma before '}'", "leave the comma out"),
        NearlyRight(#"{"a":[1,2,]}"#, "1:10", "a comma before ']'", "leave the comma out"),
        NearlyRight(#"{"a":1,,"b":2}"#, "1:8", "a second comma", "leave it out"),
        NearlyRight(#"{,"a":1}"#, "1:2", "a comma with nothing before it", "leave it out"),
        NearlyRight("{“aps”:{}}", "1:2", "a typographic quotation mark “", "write a plain \""),
        NearlyRight("{\"aps\":{\"alert\":“Hé”}}", "1:17", "a typographic quotation mark “", "write a plain \""),
        NearlyRight("{\"aps”: {\"alert\": \"Hi\"}}", "1:6", "a typographic quotation mark ”", "write a plain \""),
        NearlyRight("{\"aps\": {\"alert\": \"Hé”}}", "1:22", "a typographic quotation mark ”", "write a plain \""),
        NearlyRight("{'aps':{}}", "1:2", "a quote '", "JSON's strings stand in \"double quotes\""),
        NearlyRight(
            "'{\"aps\":{}}'", "1:1", "the payload stands in single quotes", "leave them out: they are the shell's"),
        NearlyRight(
            #"{"aps":{"alert":"Hi"}"#, "1:22", "the payload ends, and the '{' of line 1, column 1 is not closed",
            "write } behind it"),
        NearlyRight(
            "{\n \"aps\": {\"a\": [1\n", "2:17", "the payload ends, and the '[' of line 2, column 15 is not closed",
            "write ]}} behind it"),
        NearlyRight(
            #"{"aps":{"alert":"Hi}}"#, "1:17", "the string that begins here has no closing quote",
            "write '\"' behind it"),
        NearlyRight(
            "{\"aps\":{\"alert\":\"Hi\n\"}}", "1:20", "a line break inside the string of line 1, column 17",
            "close the string with '\"', or write the line break as \\n"),
        NearlyRight("{\"a\":\"\t\"}", "1:7", "a tab inside a string", "write \\t"),
        NearlyRight(#"{"a":"it\'s"}"#, "1:9", "JSON has no escape \\'", "write ' alone"),
        NearlyRight(#"{"a":"\x41"}"#, "1:7", "JSON has no escape \\x", "write \\u00 and two digits"),
        NearlyRight(#"{"a":"C:\dir"}"#, "1:9", "an escape that JSON does not have", "write \\\\ for a backslash"),
        NearlyRight(
            #"{"a":"say "hi" now"}"#, "1:11", "the string ends at this quote, and text follows it",
            "write \\\" for a quote inside a string"),
        NearlyRight(#"{"a":1}}"#, "1:8", "one '}' too many", "leave it out"),
        NearlyRight(
            #"{"aps":{}},"todo":1}"#, "1:10", "the payload ends at this '}', and more follows it",
            "leave this '}' out, and write it at the end"),
        NearlyRight(#"{"a":1}{"b":2}"#, "1:8", "a second object", "send one payload at a time"),
        NearlyRight(#"{"a":[1,2}"#, "1:10", "'}' where the '[' of line 1, column 6 is to be closed", "write ']'"),
        NearlyRight(#"{"a":1 "b":2}"#, "1:7", "no comma after this value", "write ','"),
        NearlyRight("{\"a\":\"x\"\n\"b\":2}", "1:9", "no comma after this value", "write ','"),
        NearlyRight(#"{"a":1;"b":2}"#, "1:7", "';' between members", "write ','"),
        NearlyRight(#"{"a"=1}"#, "1:5", "'=' after a key", "write ':'"),
        NearlyRight(#"{"a" 1}"#, "1:5", "no ':' after a key", "write ':'"),
        NearlyRight(#"{"a"}"#, "1:5", "a key without a value", "write ':' and the value"),
        NearlyRight(#"{"a":}"#, "1:6", "a key without a value", "write the value before '}'"),
        NearlyRight(
            #"{"aps":"alert":"Hi"}"#, "1:15", "a second ':' in one member",
            "write '{' before the inner key, or ',' where this ':' is"),
        NearlyRight("{aps:{}}", "1:2", "the key aps without quotes", "write \"aps\""),
        NearlyRight(#"{"a":True}"#, "1:6", "the word True", "write true"),
        NearlyRight(#"{"a":None}"#, "1:6", "the word None", "write null"),
        NearlyRight(#"{"a":Hello}"#, "1:6", "the word Hello", "write \"Hello\""),
        NearlyRight(
            #"{"a":$title}"#, "1:6", "a placeholder that was not filled in", "write the value, a text in quotes"),
        NearlyRight("{\n// note\n\"a\":1}", "2:1", "a comment", "leave it out: JSON has none"),
        NearlyRight("{\"a\":\u{A0}1}", "1:6", "an invisible character (U+00A0)", "write an ordinary blank, or nothing"),
        NearlyRight("{\"a\":1，\"b\":2}", "1:7", "a full-width ，", "write ,"),
        NearlyRight(
            #""aps":{"alert":"Hi"}"#, "1:1", "the payload does not begin with '{'",
            "write '{' before it and '}' behind it"),
        NearlyRight(#"[{"aps":{}}]"#, "1:1", "the payload is an array", "write one object: {\"aps\":{…}}"),
        NearlyRight("", "1:1", "the payload is empty", "write {\"aps\":{\"alert\":\"…\"}}"),
        NearlyRight("\u{FEFF}{}", "1:1", "the file begins with a byte order mark", "save it as UTF-8 without one"),
        NearlyRight(#"{"a":01}"#, "1:7", "a number may not begin with 0", nil),
    ]

    /// Those that are JSON, and do nothing.
    static let meaning = [
        NearlyRight(#"{"aps":"Hi"}"#, "1:8", "\"aps\" is a string", "write {\"alert\":…} around the text"),
        NearlyRight(
            #"{"aps":"{\"alert\":\"Hi\"}"}"#, "1:8", "\"aps\" is a string that holds JSON: it was encoded twice",
            "write the object itself, without quotes and backslashes"),
        NearlyRight(#"{"aps":["Hi"]}"#, "1:8", "\"aps\" is an array", "write an object: {\"alert\":…}"),
        NearlyRight(#"{"aps":null}"#, "1:8", "\"aps\" is no object", "write {\"alert\":…}"),
        NearlyRight(
            "{\"aps\":{\"badge\":1},\n \"alert\":\"Hi\"}", "2:2", "\"alert\" stands outside of \"aps\"",
            "write it inside: {\"aps\":{\"alert\":…}}"),
        NearlyRight(
            #"{"aps":{"alert":"a"},"mutable-content":1}"#, "1:22", "\"mutable-content\" stands outside of \"aps\"",
            "write it inside: {\"aps\":{\"mutable-content\":…}}"),
        NearlyRight(
            #"{"alert":"Hi"}"#, "1:2", "\"alert\" without an \"aps\" around it", "write {\"aps\":{\"alert\":…}}"),
        NearlyRight(#"{"APS":{"alert":"Hi"}}"#, "1:2", "the key \"APS\"", "write \"aps\""),
        NearlyRight(
            #"{"notification":{"title":"Hi"}}"#, "1:2", "\"notification\" as FCM has it, and no \"aps\"",
            "write {\"aps\":{\"alert\":{\"title\":…,\"body\":…}}}"),
        NearlyRight(
            #"{"aps":{},"aps":{"alert":"Hi"}}"#, "1:11", "\"aps\" stands here a second time", "bring the two into one"),
        NearlyRight(
            #"{"aps":{"content_available":1}}"#, "1:9", "the key \"content_available\"", "write \"content-available\""),
        NearlyRight(#"{"aps":{"alert":{"Title":"Hi"}}}"#, "1:18", "the key \"Title\"", "write \"title\""),
        NearlyRight(
            #"{"aps":{"title":"Hi"}}"#, "1:9", "\"title\" stands in \"aps\" itself", "write {\"alert\":{\"title\":…}}"),
        NearlyRight(
            #"{"aps":{"alert":["Hi"]}}"#, "1:17", "\"alert\" is neither a text nor an object",
            "write a text, or {\"title\":…,\"body\":…}"),
        NearlyRight(
            #"{"aps":{"alert":{"body":"a","category":"C"}}}"#, "1:29", "\"category\" stands inside of \"alert\"",
            "write it beside: {\"aps\":{\"alert\":{…},\"category\":…}}"),
        NearlyRight(#"{"aps":{"alert":{"body":1}}}"#, "1:25", "\"body\" is no string", "write a text in quotes"),
        NearlyRight(#"{"aps":{"badge":"3"}}"#, "1:17", "\"badge\" is a string", "write 3 without quotes"),
        NearlyRight(#"{"aps":{"badge":-1}}"#, "1:17", "\"badge\" is -1", "write a whole number, 0 or more"),
        NearlyRight(
            #"{"aps":{"content-available":"1"}}"#, "1:29", "\"content-available\" is a string", "write 1 without quotes"
        ),
        NearlyRight(
            #"{"aps":{"interruption-level":"timeSensitive"}}"#, "1:30",
            "\"interruption-level\" is none of Apple's levels", "write \"time-sensitive\""),
        NearlyRight(
            #"{"aps":{"relevance-score":2}}"#, "1:27", "\"relevance-score\" is not between 0 and 1",
            "write a number from 0 to 1"),
        NearlyRight(#"{"aps":{"thread-id":4}}"#, "1:21", "\"thread-id\" is no string", "write a text in quotes"),
    ]
}

@Suite struct PayloadDiagnosisTests {
    @Test(arguments: NearlyRight.syntax + NearlyRight.meaning)
    func `what is nearly right is told with its place and what was meant`(case nearly: NearlyRight) throws {
        let diagnosis = try #require(PayloadDiagnosis(Array(nearly.payload.utf8)))
        #expect("\(diagnosis.line):\(diagnosis.column)" == nearly.place)
        #expect(diagnosis.what == nearly.what)
        #expect(diagnosis.meant == nearly.meant)
    }

    @Test(arguments: [
        #"{"aps":{"alert":"“Hi”, she said"}}"#, #"{"todo":"Buy milk"}"#, #"{}"#, #"{"aps":{}}"#,
        #"{"aps":{"alert":{"title":"a","body":"b","title-loc-args":["c"]},"badge":0,"sound":{"critical":1}},"sound":1}"#,
        #"{"aps":{"content-available":1},"notification":{"title":"own"}}"#, #"{"\u0061ps":{"alert":"\ud83d\ude00"}}"#,
        #"{"aps":{"alert":"a","own":[1,2]},"title":"own"}"#,
    ])
    func `what is right is left alone`(payload: String) {
        #expect(PayloadDiagnosis(Array(payload.utf8)) == nil)
    }

    @Test(arguments: [PushType.mdm, .voip, .complication, .fileprovider])
    func `types whose payload is the app's own are asked for JSON alone`(type: PushType) {
        #expect(PayloadDiagnosis(Array(#"{"alert":"Hi"}"#.utf8), pushType: type) == nil)
        #expect(PayloadDiagnosis(Array(#"{"alert":"Hi",}"#.utf8), pushType: type) != nil)
    }

    @Test(arguments: [
        (#"{"aps":{}}"#, PushType.alert, false), (#"{"a":{"aps":1}}"#, .alert, true), ("{}", .background, true),
        (#"{"\u0061ps":{}}"#, .alert, false), ("{}", .mdm, false), ("{", .alert, false),
    ])
    func `the timeline is told of a payload without aps`(payload: String, type: PushType, isNoted: Bool) {
        let note = PayloadDiagnosis.note(on: JSONScanner.scan(ofObject: Array(payload.utf8)), pushType: type)
        #expect((note != nil) == isNoted)
    }

    @Test func `no edit of a payload makes the diagnosis trap, and what the scanner refuses it refuses`() {
        let right = Array(#"{"aps":{"alert":{"title":"“é”","loc-args":["\u00e9"]},"badge":1},"b":[true,null]}"#.utf8)
        var numbers = SeededGenerator(seed: 42)
        for _ in 0..<20_000 {
            var payload = right
            for _ in 0..<Int.random(in: 1...4, using: &numbers) where !payload.isEmpty {
                let index = Int.random(in: 0..<payload.count, using: &numbers)
                switch Int.random(in: 0..<3, using: &numbers) {
                case 0: payload.remove(at: index)
                case 1: payload.insert(right.randomElement(using: &numbers) ?? 0, at: index)
                default: payload.removeLast(payload.count - index)
                }
            }
            let diagnosis = PayloadDiagnosis(payload)
            if JSONScanner.fault(inObject: payload) != nil { #expect(diagnosis != nil) }
        }
    }
}
