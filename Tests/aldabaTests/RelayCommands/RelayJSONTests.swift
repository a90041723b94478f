import AldabaConfiguration
import RelayProtocol
import Testing

@testable import aldaba

/// Messages as a person writes and reads them.
@Suite struct RelayJSONTests {
    @Test(
        "A number with a point or an exponent is a double, any other an integer",
        arguments: [
            ("1", .integer(1)), ("-0", .integer(0)), ("9223372036854775807", .integer(.max)), ("1.0", .double(1)),
            ("1e3", .double(1000)), ("-0.0", .double(-0.0)), ("2E-1", .double(0.2)),
        ] as [(String, RelayValue)])
    func numbers(_ text: String, _ value: RelayValue) throws {
        #expect(try RelayJSON.message("{\"a\":\(text)}", limit: 1000) == ["a": value])
    }

    @Test(
        "What a message holds is shown as it can be written again",
        arguments: [
            #"{"a":1.0,"b":1,"c":-0.0,"d":1e+300}"#, #"{"list":[1.0,2.5],"text":"a \"b\" \\ é\n"}"#,
            #"{"a":{"b":[true]}}"#,
        ])
    func roundTrip(_ text: String) throws {
        #expect(RelayJSON.text(try RelayJSON.message(text, limit: 1000)) == text)
    }

    @Test(
        "A fault names its place and what is wrong there",
        arguments: [
            (#"{"a":[1,null]}"#, "a[1] is null, which is no value of a message"),
            (#"{"a":{"b":[{"c":null}]}}"#, "a.b[0].c is null, which is no value of a message"),
            (#"{"a":1,"a":2}"#, "a: the name stands twice"),
            (
                #"{"a":[1,"x"]}"#,
                "a[1] is of the kind string in an array that begins with integer; an array has values of one kind"
            ),
            (#"{"a":9223372036854775808}"#, "a has more than 64 bits; a double has a point, such as 1.0"),
            (#"{"a":1e400}"#, "number out of range"),
            ("[1]", #"the message must be a JSON object, such as {"on": true}"#),
            (#"{"a":}"#, "the message is no JSON: byte 5: expected a value"),
            (String(repeating: #"{"a":"#, count: 50_000), "the message is no JSON: byte"),
        ])
    func faults(_ text: String, _ words: String) {
        let fault = #expect(throws: CommandError.self) { try RelayJSON.message(text, limit: 1000) }
        #expect(fault?.exit == .invalidInput)
        #expect(fault.map { "\($0)".contains(words) } ?? false, "\(fault.map { "\($0)" } ?? "")")
    }

    @Test("A message has 64 KiB unless more is asked for, and 256 KiB at most")
    func sizes() throws {
        let text = "{\"a\":\"\(String(repeating: "x", count: 70_000))\"}"
        let fault = #expect(throws: CommandError.self) { try RelayJSON.message(text, limit: 65_536) }
        #expect(
            fault.map { "\($0)".contains("at most 65536 are allowed") && "\($0)".contains("--limit 262144") } ?? false)
        #expect(try RelayJSON.message(text, limit: 262_144).count == 1)
        for limit in [0, -1, 262_145, Int.max] {
            #expect(throws: CommandError.self) { try RelayJSON.message("{}", limit: limit) }
        }
    }
}
