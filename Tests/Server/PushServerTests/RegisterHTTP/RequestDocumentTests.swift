import HTTPTypes
import Hummingbird
import NIOCore
import PushCore
import PushServer
import Testing

private func document(_ body: String) async throws -> RequestDocument {
    let head = HTTPRequest(method: .post, scheme: "http", authority: "localhost", path: "/v1/keys")
    return try await RequestDocument(
        Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body))),
        members: ["team", "limit", "push", "services"])
}

@Suite struct RequestDocumentTests {
    @Test(arguments: [
        ("[]", "no JSON object"), ("{", "no JSON object"), (#"{"taem":"ALDABADEMO"}"#, "team, limit, push, services"),
        ("{}", "ten characters A-Z0-9"), (#"{"team":"aldaba"}"#, "ten characters A-Z0-9 would be right"),
        (#"{"team":7}"#, "a text would be right"), (#"{"team":"ALDABADEMO","limit":0}"#, "1 to 10 would be right"),
        (#"{"team":"ALDABADEMO","limit":"5"}"#, "1 to 10 would be right"),
        (#"{"team":"ALDABADEMO","push":"yes"}"#, "true or false would be right"),
        (#"{"team":"ALDABADEMO","services":[1]}"#, "a list of texts would be right"),
    ])
    func `a document that is wrong is refused with what would be right`(_ body: String, _ right: String) async throws {
        let refusal = await #expect(throws: ControlError.self) {
            let document = try await document(body)
            _ = try document.team()
            _ = try document.number("limit", in: 1...10)
            _ = try document.flag("push")
            _ = try document.texts("services")
        }
        #expect(refusal?.status == .badRequest)
        #expect(refusal?.message.contains(right) == true, "\(refusal?.message ?? "")")
    }

    @Test func `members that are missing or null have no value`() async throws {
        let document = try await document(#"{"team":"ALDABADEMO","limit":null}"#)
        #expect(try document.team() == TeamID(rawValue: "ALDABADEMO"))
        #expect(try document.number("limit", in: 1...10) == nil)
        #expect(try document.flag("push") == nil)
        #expect(try document.texts("services") == nil)
    }
}
