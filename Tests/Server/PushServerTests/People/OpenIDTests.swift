import PushCore
import Testing

@testable import PushServer

@Suite struct OpenIDTokenTests {
    private let now = Timestamp(seconds: 1_780_272_000)

    private func claims(_ change: (inout JSONValue) -> Void = { _ in }) throws -> JSONValue {
        var claims = try JSONValue(
            text:
                #"{"iss":"https://id.example","sub":"1","aud":"console","exp":1780272600,"iat":1780272000,"nonce":"n"}"#
        )
        change(&claims)
        return claims
    }

    private func read(_ claims: JSONValue) throws -> OpenIDToken {
        try OpenIDToken(claims, issuer: "https://id.example", client: "console", nonce: "n", at: now)
    }

    @Test func `a token names a person by issuer and subject`() throws {
        #expect(try read(claims()).identity == ExternalIdentity(issuer: "https://id.example", subject: "1"))
        #expect(try read(claims { $0.set("aud", .array([.string("console")])) }).authenticatedAt == nil)
    }

    @Test(arguments: [
        ("iss", #""https://other.example""#), ("aud", #""other""#), ("aud", #"["console","other"]"#),
        ("exp", "1780271000"), ("iat", "1780279999"), ("nonce", #""other""#), ("sub", #""""#), ("exp", "null"),
    ])
    func `a token with another claim is refused`(_ name: String, _ value: String) throws {
        let changed = try claims { $0.set(name, try? JSONValue(text: value)) }
        #expect(throws: OpenIDFault.self) { try read(changed) }
    }
}

@Suite struct OpenIDAttemptTests {
    @Test(arguments: [OpenIDAttempt.Purpose.logIn, .confirm, .link("abc")])
    func `an attempt is read back from its cookie`(_ purpose: OpenIDAttempt.Purpose) throws {
        let attempt = OpenIDAttempt(purpose, next: "/console/devices?a=b.c")
        let again = try #require(OpenIDAttempt(text: attempt.text))
        #expect(again.text == attempt.text && again.purpose == purpose && again.next == attempt.next)
        #expect(OpenIDAttempt(text: "a.b.c") == nil)
    }
}
