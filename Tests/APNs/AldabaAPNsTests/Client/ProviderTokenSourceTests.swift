import APNsProtocol
import AldabaTestSupport
import Crypto
import PushCore
import Testing

@testable import AldabaAPNs

@Suite struct ProviderTokenSourceTests {
    private let key = P256.Signing.PrivateKey()
    private let clock = ManualClock()
    private var random = SeededGenerator(seed: 3)

    private func source() -> ProviderTokenSource {
        ProviderTokenSource(
            key: key, keyID: KeyID(rawValue: "ABCDE12345"), team: TeamID(rawValue: "TEAM123456"))
    }

    @Test mutating func `a token is what APNs verifies, with a whole number as its time`() throws {
        var source = source()
        let text = try source.token(at: clock.now, using: &random).authorization
        let token = try ProviderToken(authorization: Array(text.utf8))
        #expect(token.isSigned(by: key.publicKey))
        #expect(token.keyID.rawValue == "ABCDE12345" && token.team.rawValue == "TEAM123456")
        #expect(token.issuedAt == clock.now)
        let claims = try JSONWebToken(Array(text.utf8.dropFirst("bearer ".count))).claims
        #expect(claims["iat"] == .number(String(clock.now.rawValue / 1000)))
    }

    @Test mutating func `a token is used for 45 to 50 minutes`() throws {
        var source = source()
        for _ in 0..<20 {
            let first = try source.token(at: clock.now, using: &random)
            clock.advance(milliseconds: 45 * 60_000 - 1)
            #expect(try source.token(at: clock.now, using: &random).generation == first.generation)
            clock.advance(milliseconds: 5 * 60_000 + 1)
            #expect(try source.token(at: clock.now, using: &random).generation == first.generation + 1)
        }
    }

    @Test mutating func `a dropped token is replaced once`() throws {
        var source = source()
        let first = try source.token(at: clock.now, using: &random)
        source.discard(generation: first.generation)
        let second = try source.token(at: clock.now, using: &random)
        #expect(second.generation != first.generation)
        source.discard(generation: first.generation)
        #expect(try source.token(at: clock.now, using: &random).generation == second.generation)
    }

    @Test mutating func `a clock that was set back makes another token`() throws {
        var source = source()
        let first = try source.token(at: clock.now, using: &random)
        clock.advance(milliseconds: -3_600_000)
        #expect(try source.token(at: clock.now, using: &random).generation != first.generation)
    }

    @Test func `a credential does not show itself`() throws {
        let credential = try TestKey.credential()
        var shown = "\(credential)"
        dump(credential, to: &shown)
        #expect(!shown.contains("P256") && !shown.contains("ABCDE12345"))
    }

    @Test(arguments: [
        ("no key", "ABCDE12345", "TEAM123456"), (TestKey.pem, "short", "TEAM123456"), (TestKey.pem, "ABCDE12345", ""),
    ])
    func `a credential that cannot work is refused`(pem: String, keyID: String, teamID: String) {
        #expect(throws: APNsCredential.Fault.self) { try APNsCredential.key(pem: pem, keyID: keyID, teamID: teamID) }
    }

    @Test func `a text that is no certificate is refused`() {
        #expect(throws: APNsCredential.Fault.self) { try APNsCredential.certificate(pem: "no certificate") }
        #expect(throws: APNsCredential.Fault.self) { try APNsCredential.certificate(pkcs12: [1, 2], passphrase: "") }
    }
}
