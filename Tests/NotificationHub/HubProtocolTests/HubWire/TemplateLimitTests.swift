import PushCore
import Testing

@testable import HubProtocol

private let manyInJSON = #"{"list":["# + Array(repeating: #""$(p)""#, count: 9000).joined(separator: ",") + "]}"
private let manyInXML = "<t>" + String(repeating: "<u>$(p)</u>", count: 9000) + "</t>"

/// The bytes that are built of a rendering, whether it comes to its end or not.
private func built(_ body: String, _ properties: [String: String], limit: Int) throws -> Int {
    var output = TemplateOutput(limit: limit)
    do { try TemplateBody(body).write(properties, into: &output) } catch is PushTemplate.Excess {}
    return output.body.count
}

@Test(arguments: [manyInJSON, manyInXML], [5, 5_000])
func `no more of a rendering is built than its limit`(body: String, length: Int) throws {
    let properties = ["p": String(repeating: "x", count: length)]
    #expect(try built(body, properties, limit: .max) > 9000 * length)
    #expect(try built(body, properties, limit: PushTemplate.mostBytes) <= PushTemplate.mostBytes)
    let template = try PushTemplate(InstallationTemplate(name: "t", body: body))
    #expect {
        try template.rendered(properties)
    } throws: { error in
        guard let excess = error as? PushTemplate.Excess else { return false }
        return excess.limit == PushTemplate.mostBytes && excess.offset <= excess.limit
            && excess.part.hasPrefix("body/")
    }
}

@Test(arguments: ["\u{1}", "\"", "é", "😀"], [#"{"a":["$(p)","$(p)"]}"#, #"{"a":"{$(p)+$(p)}"}"#, "<t>$(p)</t>"])
func `what escaping adds counts, too`(character: String, body: String) throws {
    let properties = ["p": String(repeating: character, count: 3000)]
    let whole = try built(body, properties, limit: .max)
    let template = try PushTemplate(InstallationTemplate(name: "t", body: body))
    #expect(try template.rendered(properties, limit: whole).body.count == whole)
    #expect(throws: PushTemplate.Excess.self) { try template.rendered(properties, limit: whole - 1) }
}

@Test func `header fields and the expiry count with the payload`() throws {
    var text = InstallationTemplate(name: "t", body: #"{"a":"$(p)"}"#)
    text.headers = [.init("x", .string("{$(p)+$(p)}"))]
    text.expiry = "$(p)"
    let template = try PushTemplate(text)
    let properties = ["p": "12345"]
    let whole = #"{"a":"12345"}"#.utf8.count + 15
    #expect(try template.rendered(properties, limit: whole).expiry == "12345")
    for (limit, part) in [(whole - 1, "expiry"), (whole - 6, "headers/x"), (3, "body"), (10, "body/a")] {
        #expect {
            try template.rendered(properties, limit: limit)
        } throws: { ($0 as? PushTemplate.Excess)?.part == part }
    }
}

@Test(arguments: [
    (#"{"a":["# + Array(repeating: #""$(p)""#, count: 257).joined(separator: ",") + "]}", "body", "257 expressions"),
    (#"{"a":"{"# + Array(repeating: "$(p)", count: 257).joined(separator: "+") + #"}"}"#, "body", "257 expressions"),
    (#"{"a":{"b":"$(p:{"# + String(repeating: "x", count: 4096) + #"})"}}"#, "body/a/b", "4103 bytes"),
    ("<t a=\"$(p:{" + String(repeating: "x", count: 4096) + "})\"/>", "body/@a", "4103 bytes"),
])
func `a template of too many expressions, or too long ones, is told where`(
    body: String, part: String, message: String
) throws {
    let template = try PushTemplate(InstallationTemplate(name: "t", body: body))
    #expect {
        try template.checkLimits()
    } throws: { error in
        guard let fault = error as? PushTemplate.Fault else { return false }
        return fault.part == part && fault.message.contains(message) && fault.message.contains("at most")
    }
}

@Test func `a template of as many expressions as are taken is taken`() throws {
    let body = #"{"a":["# + Array(repeating: #""$(p)""#, count: 256).joined(separator: ",") + "]}"
    try PushTemplate(InstallationTemplate(name: "t", body: body)).checkLimits()
}

@Test func `a send has so many properties, each of so many bytes`() throws {
    func body(_ count: Int, _ bytes: Int) -> [UInt8] {
        JSONValue.object((0..<count).map { .init("p\($0)", .string(String(repeating: "x", count: bytes))) }).bytes
    }
    #expect(try PushTemplate.checkedProperties(body(128, 1)).count == 128)
    #expect(try PushTemplate.checkedProperties(body(1, 16_384)).count == 1)
    for (count, bytes, path) in [(129, 1, ""), (1, 16_385, "/p0")] {
        #expect {
            try PushTemplate.checkedProperties(body(count, bytes))
        } throws: { ($0 as? InstallationError)?.path == path }
        // What the store has from before is read all the same.
        #expect(try PushTemplate.properties(body(count, bytes)).count == count)
    }
}
