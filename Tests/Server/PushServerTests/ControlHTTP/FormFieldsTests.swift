import HTTPTypes
import Hummingbird
import NIOCore
import Testing

@testable import PushServer

@Test func `a form's fields are decoded, and what is no escape stands for itself`() throws {
    let form = try FormFields("a=1&b=x+y%2Fz&c=%zz&d&a=2&=e&f=%4&g=%")
    #expect(form.first("a") == "1")
    #expect(form.first("b") == "x y/z")
    #expect(form.first("c") == "%zz")
    #expect(form.first("d") == "")
    #expect(form.first("e") == nil)
    #expect(form.first("f") == "%4")
    #expect(form.first("g") == "%")
}

@Test func `a form of the longest length is read, and one byte more is refused with both numbers`() throws {
    let longest = "a=" + String(repeating: "b", count: FormFields.longest - 2)
    #expect(try FormFields(longest).first("a")?.utf8.count == FormFields.longest - 2)
    let refusal = #expect(throws: ControlError.self) { try FormFields(longest + "b") }
    #expect(refusal?.status == .contentTooLarge)
    #expect(refusal?.message == "the form or query has 8193 bytes; 8192 are allowed")
}

@Test func `a form has at most 64 fields`() throws {
    let most = (0..<64).map { "f\($0)=1" }.joined(separator: "&")
    #expect(try FormFields(most).names.count == 64)
    let refusal = #expect(throws: ControlError.self) { try FormFields(most + "&f64=1") }
    #expect(refusal?.message == "the form or query has 65 fields; 64 are allowed")
    #expect(throws: ControlError.self) { try FormFields(String(repeating: "&", count: 8000)) }
}

@Test func `of a form that is too large no more is read than the limit and one piece`() async throws {
    let (body, source) = RequestBody.makeStream()
    let request = Request(
        head: .init(method: .post, scheme: "https", authority: "localhost", path: "/token"), body: body)
    let form = Task { try await request.form() }
    await source.yield(ByteBuffer(repeating: UInt8(ascii: "a"), count: FormFields.longest))
    // The stream never ends: the refusal comes with the first byte over the limit.
    await source.yield(ByteBuffer(repeating: UInt8(ascii: "a"), count: 1))
    await #expect(throws: ControlError.self) { try await form.value }
}
