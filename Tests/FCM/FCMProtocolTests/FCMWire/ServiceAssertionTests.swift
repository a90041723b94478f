import Crypto
import CryptoExtras
import Foundation
import PushCore
import Testing

@testable import FCMProtocol

@Suite struct ServiceAssertionTests {
    private static let key = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }
    private let now = Timestamp(seconds: 1_780_272_000)

    private func assertion(
        algorithm: String = "RS256", issuedAt: Int64 = 1_780_272_000, expiresAt: Int64 = 1_780_275_600
    ) throws -> String {
        let head = Base64URL.encode(Array(#"{"alg":"\#(algorithm)","typ":"JWT","kid":"k"}"#.utf8))
        let claims = """
            {"iss":"me@project","scope":"a b","aud":"https://here/token","iat":\(issuedAt),"exp":\(expiresAt)}
            """
        let signed = head + "." + Base64URL.encode(Array(claims.utf8))
        let signature = try Self.key.get().signature(
            for: SHA256.hash(data: Data(signed.utf8)), padding: .insecurePKCS1v1_5)
        return signed + "." + Base64URL.encode(Array(signature.rawRepresentation))
    }

    @Test func `an assertion is read, and its key's signature found good`() throws {
        let read = try ServiceAssertion(try assertion())
        #expect(read.keyID == "k" && read.issuer == "me@project" && read.scopes == ["a", "b"])
        #expect(read.audience == "https://here/token")
        let mine = try #require(ServiceAccountKey(pem: try Self.key.get().publicKey.pemRepresentation))
        #expect(read.isSigned(by: mine))
        let other = try #require(
            ServiceAccountKey(pem: try _RSA.Signing.PrivateKey(keySize: .bits2048).publicKey.pemRepresentation))
        #expect(!read.isSigned(by: other))
        #expect(ServiceAccountKey(pem: "no key") == nil)
    }

    @Test func `a changed claim is no longer signed`() throws {
        var parts = try assertion().split(separator: ".").map(String.init)
        parts[1] = Base64URL.encode(Array(#"{"iss":"you@project","aud":"x","iat":1,"exp":2}"#.utf8))
        let mine = try #require(ServiceAccountKey(pem: try Self.key.get().publicKey.pemRepresentation))
        #expect(try !ServiceAssertion(parts.joined(separator: ".")).isSigned(by: mine))
    }

    @Test(arguments: [
        (Int64(0), Int64(3600), true), (0, 3601, false), (299, 3000, true), (301, 3000, false), (-3600, -299, true),
        (-3600, -300, false), (10, 10, false),
    ])
    func `an assertion is good for an hour at most, and now`(issued: Int64, expires: Int64, isGood: Bool) throws {
        let read = try ServiceAssertion(
            try assertion(issuedAt: 1_780_272_000 + issued, expiresAt: 1_780_272_000 + expires))
        #expect((read.timeFault(at: now) == nil) == isGood)
    }

    @Test(arguments: ["", "a.b", "a.b.c", "e30.e30.", "....", String(repeating: "a", count: 20_000)])
    func `what is no assertion is refused`(text: String) {
        #expect(throws: ServiceAssertion.MalformedAssertionError.self) { try ServiceAssertion(text) }
    }

    @Test(arguments: ["none", "HS256", "ES256"])
    func `another algorithm is refused`(algorithm: String) {
        #expect(throws: ServiceAssertion.MalformedAssertionError.self) {
            try ServiceAssertion(try assertion(algorithm: algorithm))
        }
    }

    @Test func `an access token says whose it is, and only the server's keys make one`() throws {
        let sealer = try #require(AccessTokenSealer(secrets: [[1], [2]]))
        let grant = AccessGrant(keyID: "abc", expiresAt: now)
        let token = sealer.seal(grant)
        #expect(sealer.open(token) == grant)
        #expect(AccessTokenSealer(secrets: [[3], [1]])?.open(token) == grant, "an earlier key still opens")
        #expect(AccessTokenSealer(secrets: [[3]])?.open(token) == nil)
        #expect(AccessTokenSealer(secrets: []) == nil)
        let forged = AccessTokenSealer(secrets: [[9]])?.seal(grant)
        for text in ["", "aldaba.", "aldaba.a.b", token + "x", String(token.dropLast(2)), forged ?? ""] {
            #expect(sealer.open(text) == nil)
        }
    }
}
