import AldabaTestSupport
import Foundation
import Testing
import X509

@testable import AldabaConfiguration

private let now = Date(timeIntervalSince1970: 1_800_000_000)
private let day = 86_400.0

private func read(_ path: String) throws -> Certificate {
    try Certificate(pemEncoded: String(contentsOfFile: path, encoding: .utf8))
}

@Test func `authority and server certificate are made once and then kept`() throws {
    let folder = try TemporaryFolder()
    let first = try DevelopmentCertificates.ensure(folder: folder.path, now: now)
    #expect(first.made.count == 2)
    let server = try read(first.paths.server)
    let second = try DevelopmentCertificates.ensure(folder: folder.path, now: now.addingTimeInterval(300 * day))
    #expect(second.made.isEmpty)
    #expect(try read(second.paths.server) == server)
}

@Test func `the server certificate names loopback, lasts at most 398 days and is signed by the authority`() throws {
    let folder = try TemporaryFolder()
    let paths = try DevelopmentCertificates.ensure(folder: folder.path, now: now).paths
    let (server, authority) = (try read(paths.server), try read(paths.authority))
    #expect(authority.publicKey.isValidSignature(server.signature, for: server))
    #expect(server.notValidAfter.timeIntervalSince(server.notValidBefore) <= 398 * day)
    let names = try #require(try server.extensions.subjectAlternativeNames)
    #expect(names.count == 3)
    #expect(try server.extensions.basicConstraints == .notCertificateAuthority)
    #expect(try authority.extensions.basicConstraints == .isCertificateAuthority(maxPathLength: 0))
}

@Test func `a server certificate that is made names further hosts`() throws {
    let folder = try TemporaryFolder()
    let paths = try DevelopmentCertificates.ensure(folder: folder.path, names: ["api.push.apple.com"], now: now).paths
    let names = try CertificateFiles(certificate: paths.server, key: paths.serverKey).names
    #expect(names.contains("api.push.apple.com") && names.contains("localhost"))
}

@Test func `a server certificate near its end is made anew by the same authority`() throws {
    let folder = try TemporaryFolder()
    let paths = try DevelopmentCertificates.ensure(folder: folder.path, now: now).paths
    let authority = try read(paths.authority)
    let later = try DevelopmentCertificates.ensure(folder: folder.path, now: now.addingTimeInterval(370 * day))
    #expect(later.made.count == 1)
    #expect(try read(paths.authority) == authority)
}

@Test func `a new authority brings a new server certificate`() throws {
    let folder = try TemporaryFolder()
    let paths = try DevelopmentCertificates.ensure(folder: folder.path, now: now).paths
    try FileManager.default.removeItem(atPath: paths.authority)
    #expect(try DevelopmentCertificates.ensure(folder: folder.path, now: now).made.count == 2)
    let (server, authority) = (try read(paths.server), try read(paths.authority))
    #expect(authority.publicKey.isValidSignature(server.signature, for: server))
}

@Test func `private keys are for their owner alone`() throws {
    let folder = try TemporaryFolder()
    _ = try DevelopmentCertificates.ensure(folder: folder.path, now: now)
    #expect(try folder.permissions("ca-key.pem") == 0o600)
    #expect(try folder.permissions("server-key.pem") == 0o600)
}

@Test func `openssl's strict checks pass`() throws {
    let folder = try TemporaryFolder()
    let paths = try DevelopmentCertificates.ensure(folder: folder.path, now: Date()).paths
    let check = try ForeignProgram(
        "/usr/bin/openssl",
        [
            "verify", "-x509_strict", "-purpose", "sslserver", "-verify_ip", "127.0.0.1", "-CAfile", paths.authority,
            paths.server,
        ])
    #expect(check.waitUntilExit() == 0)
}
