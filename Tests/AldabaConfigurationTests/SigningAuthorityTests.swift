import APNsProtocol
import Crypto
import Foundation
import PushCore
import Testing
import X509

@testable import AldabaConfiguration
@testable import aldaba

private let now = Date(timeIntervalSince1970: 1_800_000_000)
private let profile = CertificateProfile(
    bundleID: Topic(rawValue: "com.example.todo"), team: TeamID(rawValue: "TEAM123456"),
    environments: [.sandbox, .production], services: ["voip"])

/// A request with an RSA key of 1,024 bits, made by openssl.
private let weak = """
    -----BEGIN CERTIFICATE REQUEST-----
    MIIBTjCBuAIBADAPMQ0wCwYDVQQDDARwdXNoMIGfMA0GCSqGSIb3DQEBAQUAA4GN
    ADCBiQKBgQDVSVkt9YPotrzSxJwtwLDeixXedt2LaGZH3ufEgCHp2oBa6HWS2pZ5
    fWyenh651ZkRyFkT/yIMXL7D2h+vV34OMw+damtitjfrqwZ216GrugGNuBGXCIja
    RnlMe+TJ5GHbOeATRI7WxToFBACMhuwXwMXnRMNHEbrvmZZP2q/i8QIDAQABoAAw
    DQYJKoZIhvcNAQELBQADgYEAl1/WjaTVt6fMlstmL0hmTVstZfyhkNXo8KldAH+n
    j/9DayowkEzWryfz4FMAfZoGBS0tCRhLgZVscAUtTmsfIUgsmVSE82InFNJdXaPM
    9CAoS+8b5Psh3EWbjxpsFEcnwqFF/94FrRJ5QgmCCU/qB5RmwhtA19xiQNCORyLO
    Gl8=
    -----END CERTIFICATE REQUEST-----
    """

/// Certificates for the keys of requests.
@Suite struct SigningAuthorityTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func write(_ name: String, _ text: String) throws -> String {
        let path = folder.path + "/" + name
        try PrivateFile.write(Array(text.utf8), to: path)
        return path
    }

    private func request() throws -> (path: String, key: Certificate.PublicKey) {
        let key = P256.Signing.PrivateKey()
        let request = try CertificateSigningRequest(
            version: .v1, subject: try DistinguishedName { CommonName("anything") }, privateKey: .init(key),
            attributes: .init(), signatureAlgorithm: .ecdsaWithSHA256)
        return (try write("push.csr", request.serializeAsPEM().pemString), .init(key.publicKey))
    }

    @Test func `a certificate is for the request's key, and says what the profile says`() throws {
        let (path, key) = try request()
        let authority = try SigningAuthority.development(folder: folder.path + "/providers", now: now)
        let made = try authority.sign(SigningRequest(path: path), as: profile, days: 365, now: now)
        #expect(try Certificate(derEncoded: made.der).publicKey == key)
        #expect(CertificateProfile(of: made, team: profile.team) == profile)
        #expect(made.notAfter.rawValue / 1000 - Int64(now.timeIntervalSince1970) == 365 * 86_400)
        let signer = try CertificateAuthority(
            der: EncodedFile.first(["CERTIFICATE"], in: folder.path + "/providers/ca.pem"))
        #expect(made.isSigned(by: signer))
    }

    @Test func `a renewed certificate has the key of the one before, and a time of its own`() throws {
        let authority = try SigningAuthority.development(folder: folder.path + "/providers", now: now)
        let first = try authority.sign(SigningRequest(path: try request().path), as: profile, days: 30, now: now)
        let later = now.addingTimeInterval(29 * 86_400)
        let second = try authority.renew(first, team: profile.team, days: 30, now: later)
        #expect(try Certificate(derEncoded: second.der).publicKey == Certificate(derEncoded: first.der).publicKey)
        #expect(CertificateProfile(of: second, team: profile.team) == profile)
        #expect(second.notAfter.milliseconds(since: first.notAfter) == 29 * 86_400_000)
        #expect(second.fingerprint != first.fingerprint)
    }

    @Test func `a certificate does not outlive its authority`() throws {
        let authority = try SigningAuthority.development(folder: folder.path + "/providers", now: now)
        let late = now.addingTimeInterval(3640 * 86_400)
        let made = try authority.sign(SigningRequest(path: try request().path), as: profile, days: 365, now: late)
        #expect(made.notAfter.rawValue / 1000 - Int64(now.timeIntervalSince1970) == 3650 * 86_400)
        let tooLate = now.addingTimeInterval(3651 * 86_400)
        let path = try request().path
        #expect(throws: EncodedFile.Unusable.self) {
            try authority.sign(SigningRequest(path: path), as: profile, days: 365, now: tooLate)
        }
    }

    @Test(arguments: [
        ("", "holds no CERTIFICATE REQUEST"), ("some text", "holds no CERTIFICATE REQUEST"),
        ("-----BEGIN CERTIFICATE-----\nAQID\n-----END CERTIFICATE-----\n", "but CERTIFICATE"),
        ("-----BEGIN CERTIFICATE REQUEST-----\nAQID\n-----END CERTIFICATE REQUEST-----\n", "openssl req"),
        (weak, "at least 2048 bits"),
    ])
    func `what is no request is refused in words`(text: String, word: String) throws {
        let path = try write("wrong.csr", text)
        let error = #expect(throws: EncodedFile.Unusable.self) { try SigningRequest(path: path) }
        #expect(error?.description.contains(word) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains(path) == true)
    }

    @Test func `a request that was changed after it was signed is refused`() throws {
        let path = try request().path
        var der = try EncodedFile.first(["CERTIFICATE REQUEST"], in: path)
        let name = try #require(der.firstRange(of: Array("anything".utf8)))
        der[name.lowerBound] = UInt8(ascii: "b")
        let changed = folder.path + "/changed.csr"
        try PrivateFile.write(der, to: changed)
        let error = #expect(throws: EncodedFile.Unusable.self) { try SigningRequest(path: changed) }
        #expect(error?.reason.contains("not signed with the key") == true)
    }

    @Test func `an authority and a key that are not each other's sign nothing`() throws {
        let one = folder.path + "/one", other = folder.path + "/other"
        _ = try SigningAuthority.development(folder: one, now: now)
        let authority = try SigningAuthority.development(folder: other, now: now)
        let error = #expect(throws: EncodedFile.Unusable.self) {
            try SigningAuthority(certificate: one + "/ca.pem", key: other + "/ca-key.pem")
        }
        #expect(error?.reason.contains("not that of the authority") == true)
        let leaf = try authority.sign(SigningRequest(path: try request().path), as: profile, days: 1, now: now)
        let path = try write("leaf.pem", EncodedFile.certificatePEM(leaf.der))
        #expect(throws: EncodedFile.Unusable.self) {
            try SigningAuthority(certificate: path, key: other + "/ca-key.pem")
        }
        #expect(throws: EncodedFile.Unusable.self) {
            try SigningAuthority(certificate: one + "/ca.pem", key: one + "/missing.pem")
        }
    }
}
