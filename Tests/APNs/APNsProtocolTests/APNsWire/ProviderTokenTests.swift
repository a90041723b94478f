import APNsProtocol
import Crypto
import Foundation
import PushCore
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
            key: key, keyID: KeyID(rawValue: "KEY1234567"), team: TeamID(rawValue: "TEAM123456"), issuedAt: now)
        let token = try ProviderToken(authorization: Array("Bearer \(text)".utf8))
        #expect(token.keyID.rawValue == "KEY1234567")
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
        #expect(throws: APNsRejection.self) { try ProviderToken(compact: bytes) }
    }

    @Test(arguments: [#"["b64"]"#, "[]", "null", "7"])
    func `a token with critical extensions is refused, since none is understood`(crit: String) throws {
        let bytes = try compact(
            header: #"{"alg":"ES256","kid":"KEY1234567","crit":\#(crit),"b64":true}"#, claims: Self.claims)
        let error = #expect(throws: APNsRejection.self) { try ProviderToken(compact: bytes) }
        #expect(error?.reason == .invalidProviderToken)
        #expect(error?.note?.contains("crit") == true)
    }

    private static let claims = #"{"iss":"TEAM123456","iat":1780000000}"#

    /// What is signed, with the two numbers of its signature, 32 bytes each.
    private func signed() throws -> (r: [UInt8], s: [UInt8]) {
        let raw = try Array(
            key.signature(for: Data("\(encoded(header)).\(encoded(Self.claims))".utf8)).rawRepresentation)
        return (Array(raw[..<32]), Array(raw[32...]))
    }

    /// A DER number, of the shortest form.
    private func number(_ bytes: [UInt8]) -> [UInt8] {
        var digits = Array(bytes.drop { $0 == 0 })
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return [0x02, UInt8(digits.count)] + digits
    }

    private func sequence(_ content: [UInt8]) -> [UInt8] { [0x30, UInt8(content.count)] + content }

    @Test func `a signature is taken as r and s, and as DER`() throws {
        // Half of all numbers have a zero in front, and one in 256 is shorter than 32 bytes.
        for _ in 0..<500 {
            let (r, s) = try signed()
            for form in [r + s, sequence(number(r) + number(s))] {
                let token = try ProviderToken(compact: compact(header: header, claims: Self.claims, signature: form))
                #expect(token.isSigned(by: key.publicKey))
                #expect(!token.isSigned(by: P256.Signing.PrivateKey().publicKey))
            }
        }
    }

    @Test func `a signature that is almost DER is refused`() throws {
        let (r, s) = try signed()
        let (first, second) = (number(r), number(s))
        let right = sequence(first + second)
        var forms: [String: [UInt8]] = [
            "nothing": [], "63 bytes": Array((r + s).dropLast()), "65 bytes": r + s + [0], "r alone": sequence(first),
            "three numbers": sequence(first + second + [0x02, 0x01, 0x01]), "a byte behind": right + [0],
            "a byte short": Array(right.dropLast()), "another sequence": [0x31] + right.dropFirst(),
            "a long length": [0x30, 0x81, UInt8(right.count - 2)] + right.dropFirst(2),
            "an indefinite length": [0x30, 0x80] + first + second + [0, 0],
            "a negative number": sequence([0x02, 0x20, 0xFF] + r.dropFirst() + second),
            "an empty number": sequence([0x02, 0x00] + second),
            "a number of 33 digits": sequence([0x02, 0x21, 0x01] + r + second),
            "bits for a number": sequence([0x03] + first.dropFirst() + second),
        ]
        var padded = number(r)
        padded.insert(0, at: 2)
        padded[1] += 1
        forms["a number with a zero too many"] = sequence(padded + second)
        for (name, form) in forms {
            let bytes = try compact(header: header, claims: Self.claims, signature: form)
            #expect(throws: APNsRejection.self, "\(name)") { try ProviderToken(compact: bytes) }
        }
    }

    @Test(arguments: ["", "a", "a.b", "a.b.c.d", "..", "!!.!!.!!", "e30.e30.e30"])
    func `text that is no token is refused`(text: String) {
        #expect(throws: APNsRejection.self) { try ProviderToken(compact: Array(text.utf8)) }
    }

    @Test func `a missing scheme is a missing token`() throws {
        let error = #expect(throws: APNsRejection.self) { try ProviderToken(authorization: Array("Basic abc".utf8)) }
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
