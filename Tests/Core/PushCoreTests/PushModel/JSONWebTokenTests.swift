import PushCore
import Testing

/// The compact form of JSON Web Tokens. The token is that of RFC 7515, appendix A.1.
@Suite struct JSONWebTokenTests {
    private static let header = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9"
    private static let claims =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    private static let signature = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

    @Test func `the published token is read`() throws {
        let token = try JSONWebToken(Array("\(Self.header).\(Self.claims).\(Self.signature)".utf8))
        #expect(token.header["alg"]?.text == "HS256" && token.claims["exp"]?.integer == 1_300_819_380)
        #expect(token.signature.prefix(4).elementsEqual([116, 24, 223, 180]) && token.signature.count == 32)
        #expect(token.signedBytes == Array("\(Self.header).\(Self.claims)".utf8))
    }

    @Test(arguments: [
        ("", JSONWebToken.Malformation.parts(1)), ("\(header).\(claims)", .parts(2)), ("a.b.c.d", .parts(4)),
        ("\(header).\(claims).!", .encoding), ("e30.W10.AA", .claims),
        ("W10.e30.AA", .header), ("..", .header),
    ])
    func `a fault of the form names its place`(text: String, fault: JSONWebToken.Malformation) {
        #expect(throws: fault) { try JSONWebToken(Array(text.utf8)) }
    }

    @Test func `what is made is read again, and what is signed are its first two parts`() throws {
        var seen: [UInt8] = []
        let text = JSONWebToken.signed(
            header: [.init("alg", .string("ES256"))], claims: [.init("iat", .number("7"))],
            by: { bytes in
                seen = bytes
                return [1, 2, 3]
            })
        let token = try JSONWebToken(Array(text.utf8))
        #expect(token.signedBytes == seen && token.signature == [1, 2, 3])
        #expect(token.claims["iat"]?.integer == 7)
    }
}
