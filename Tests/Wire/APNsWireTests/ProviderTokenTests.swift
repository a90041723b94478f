import APNsWire
import Crypto
import Foundation
import PushModel
import Testing

@Suite struct ProviderTokenTests {
    private let key = P256.Signing.PrivateKey()
    private let now = Timestamp(seconds: 1_780_000_000)

    private func encoded(_ text: String) -> String {
        Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
            "=", with: "")
    }

    private func compact(header: String, claims: String, signature: [UInt8]? = nil) throws -> [UInt8] {
        let signed = "\(encoded(header)).\(encoded(claims))"
        let raw = try signature ?? Array(key.signature(for: Data(signed.utf8)).rawRepresentation)
        let tail = Data(raw).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        return Array("\(signed).\(tail.replacing("=", with: ""))".utf8)
    }

    private let header = #"{"alg":"ES256","kid":"KEY1234567"}"#

    @Test func `a token of our own is genuine`() throws {
        let text = try ProviderToken.make(
            key: key, keyID: "KEY1234567", team: TeamID(rawValue: "TEAM123456"), issuedAt: now)
        let token = try ProviderToken(authorization: Array("Bearer \(text)".utf8))
        #expect(token.keyID == "KEY1234567")
        #expect(token.team.rawValue == "TEAM123456")
        #expect(token.issuedAt == now)
        #expect(token.isSigned(by: key.publicKey))
        #expect(!token.isSigned(by: P256.Signing.PrivateKey().publicKey))
        #expect(token.refusal(at: now) == nil)
    }

    @Test(arguments: ["1780000000", "1780000000.75", "\"1780000000\"", "1.78e9"])
    func `iat is taken as an integer, a float or a string`(iat: String) throws {
        let token = try ProviderToken(
            compact: compact(header: header, claims: #"{"iss":"TEAM123456","iat":\#(iat)}"#))
        #expect(token.issuedAt == now)
    }

    @Test func `white space and further fields do no harm`() throws {
        let token = try ProviderToken(
            compact: compact(
                header: "{\n \"typ\" : \"JWT\",\n \"alg\" : \"ES256\",\n \"kid\" : \"KEY1234567\"\n}",
                claims: "{\n \"kid\" : \"KEY1234567\", \"iat\" : \"1780000000\", \"iss\" : \"TEAM123456\" }"))
        #expect(token.isSigned(by: key.publicKey))
    }

    @Test(arguments: [
        (#"{"alg":"none","kid":"KEY1234567"}"#, #"{"iss":"TEAM123456","iat":1}"#),
        (#"{"alg":"HS256","kid":"KEY1234567"}"#, #"{"iss":"TEAM123456","iat":1}"#),
        (#"{"alg":"ES256"}"#, #"{"iss":"TEAM123456","iat":1}"#),
        (#"{"alg":"ES256","kid":"short"}"#, #"{"iss":"TEAM123456","iat":1}"#),
        (#"{"alg":"ES256","kid":"KEY1234567"}"#, #"{"iss":"team","iat":1}"#),
        (#"{"alg":"ES256","kid":"KEY1234567"}"#, #"{"iss":"TEAM123456"}"#),
        (#"{"alg":"ES256","kid":"KEY1234567"}"#, #"{"iss":"TEAM123456","iat":"soon"}"#),
        (#"{"alg":"ES256","kid":"KEY1234567"}"#, #"{"iss":"TEAM123456","iat":1e99}"#),
        (#"{"alg":"ES256","kid":"KEY1234567"}"#, #"{"iss":"TEAM123456","iat":true}"#),
        ("not json", #"{"iss":"TEAM123456","iat":1}"#),
    ])
    func `a token with a wrong part is refused`(header: String, claims: String) throws {
        let bytes = try compact(header: header, claims: claims)
        #expect(throws: APNsRefusal.self) { try ProviderToken(compact: bytes) }
    }

    @Test(arguments: ["", "a", "a.b", "a.b.c.d", "..", "!!.!!.!!", "e30.e30.e30"])
    func `text that is no token is refused`(text: String) {
        #expect(throws: APNsRefusal.self) { try ProviderToken(compact: Array(text.utf8)) }
    }

    @Test func `a missing scheme is a missing token`() throws {
        let error = #expect(throws: APNsRefusal.self) { try ProviderToken(authorization: Array("Basic abc".utf8)) }
        #expect(error?.reason == .missingProviderToken)
    }

    @Test(
        arguments: [
            (3_600, nil), (3_601, .expiredProviderToken), (-300, nil), (-301, .invalidProviderToken),
        ] as [(Int64, APNsReason?)])
    func `a token is good for an hour`(age: Int64, reason: APNsReason?) throws {
        let token = try ProviderToken(
            compact: compact(header: header, claims: #"{"iss":"TEAM123456","iat":\#(1_780_000_000 - age)}"#))
        #expect(token.refusal(at: now)?.reason == reason)
    }

    @Test(arguments: [Int64.min, Int64.max, 0, -1])
    func `an absurd iat is refused, not trapped on`(iat: Int64) throws {
        let token = try ProviderToken(
            compact: compact(header: header, claims: #"{"iss":"TEAM123456","iat":\#(iat)}"#))
        #expect(token.refusal(at: now) != nil)
    }
}
