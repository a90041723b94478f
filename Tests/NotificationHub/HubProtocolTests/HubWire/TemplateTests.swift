import PushCore
import Testing

@testable import HubProtocol

private func value(_ expression: String, _ properties: [String: String]) throws -> String {
    try #require(try TemplateExpression(expression).value(properties, limit: 1000)).json
}

@Test(arguments: [
    ("plain", #""plain""#), ("$(name)", #""Anna""#), ("$(NAME)", #""Anna""#), ("$(nobody)", #""""#),
    ("$(name, 2)", #""An""#), ("$(name,20)", #""Anna""#), (".(long, 8)", #""Once ...""#), (".(name, 4)", #""Anna""#),
    (".(long, 2)", #""..""#), ("%(long)", #""Once%20upon%20a%20time""#), ("#(count)", "42"), ("#(name)", #""Anna""#),
    ("#(half)", "0.5"), ("{'Hi ' + $(name)}", #""Hi Anna""#), (#"{"It''s" + 'it''s'}"#, #""It''sit's""#),
    ("{$(name)+', '+.(long,7)}", #""Anna, Once...""#), ("$(nobody:{you})", #""you""#),
    (#"$(nobody:{a\}b})"#, #""a}b""#), ("$(name:{you}, 1)", #""A""#), ("{ 'x' }", #""x""#), ("{'$5'}", #""$5""#),
    ("50% off", #""50% off""#),
])
func `an expression becomes what the language says`(expression: String, expected: String) throws {
    let properties = ["name": "Anna", "long": "Once upon a time", "count": "42", "half": "0.5"]
    #expect(try value(expression, properties) == expected)
}

@Test(arguments: [
    ("$5", "expected ("), ("$(a", "expected )"), ("$()", "the name of a property"), ("$(a b)", "expected )"),
    (".(a)", "expected a length"), ("%(a,3)", "takes no length"), ("{#(a) + 'x'}", "cannot be joined"),
    ("{'a}", "does not end"), ("{a}", "expected $(…)"), ("$(a) and more", "write {e1 + e2}"),
    ("{$(a)", "expected + or }"),
    ("$body", "whole body"), ("$(a:{x", "does not end"), ("$(a,9999999)", "one to six digits"), ("", ""),
])
func `a wrong expression is told where and why`(expression: String, message: String) {
    guard !expression.isEmpty else { return }
    #expect {
        try TemplateExpression(expression)
    } throws: { ($0 as? TemplateExpression.Fault)?.message.contains(message) == true }
}

@Test(arguments: ["\"", "\\", "\u{0}", "\n", "\",\"aps\":{}", "</x>", "😀", "\u{2028}"])
func `no value breaks the payload`(value: String) throws {
    let template = try PushTemplate(
        InstallationTemplate(name: "t", body: #"{"aps":{"alert":"{'<' + $(v) + '>'}"},"list":["$(v)",1,null]}"#))
    let tree = try JSONValue(template.rendered(["v": value]).body)
    #expect(tree["aps"]?["alert"] == .string("<\(value)>"))
    #expect(tree["list"] == .array([.string(value), .number("1"), .null]))
    #expect(tree.members?.map(\.name) == ["aps", "list"])
}

@Test func `a number's text is a number of JSON only where it is one`() throws {
    let template = try PushTemplate(InstallationTemplate(name: "t", body: ##"{"n":"#(n)"}"##))
    for (text, expected) in [
        ("1e3", "1e3"), ("-0", "-0"), ("007", #""007""#), ("1,2", #""1,2""#), ("1}", #""1}""#), ("", #""""#),
        ("NaN", #""NaN""#),
    ] {
        #expect(try String(decoding: template.rendered(["n": text]).body, as: UTF8.self) == "{\"n\":\(expected)}")
    }
}

@Test(arguments: [("no json", "no JSON"), ("[]", "a JSON object"), (#"{"a":{"b":["$("]}}"#, "name of a property")])
func `a template that cannot be read is refused when it is put`(body: String, message: String) {
    #expect {
        try PushTemplate(InstallationTemplate(name: "t", body: body))
    } throws: { ($0 as? PushTemplate.Fault)?.message.contains(message) == true }
}

@Test func `properties are a flat object of strings`() throws {
    #expect(try PushTemplate.properties(Array(#"{"A":"x","b":null}"#.utf8)) == ["a": "x"])
    for body in ["", "[]", #"{"a":1}"#, #"{"a":{}}"#] {
        #expect(throws: InstallationError.self) { try PushTemplate.properties(Array(body.utf8)) }
    }
}

@Test(arguments: [
    "{", "[1,]", "01", "1.", "\"\u{1}\"", "\"\\x\"", "tru", "{\"a\" 1}", "{\"a\":1,}", "\"\\u12\"", "[] []", "",
    String(repeating: "[", count: 65) + String(repeating: "]", count: 65),
])
func `a text that is no JSON is told where`(text: String) {
    #expect(throws: JSONScanner.Fault.self) { try JSONValue(text: text) }
}

@Test(arguments: [
    (#" {"b":1.50,"a":[true,false,null,"\u00e9\ud83d\ude00\/"]} "#, #"{"b":1.50,"a":[true,false,null,"é😀/"]}"#),
    (#""\ud83d""#, "\"\u{FFFD}\""), (#""\ud83dx""#, "\"\u{FFFD}x\""), (#""\b\f\n\r\t""#, #""\u0008\u000c\n\r\t""#),
])
func `JSON keeps its order and its numbers`(text: String, expected: String) throws {
    #expect(try JSONValue(text: text).json == expected)
}
