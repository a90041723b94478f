import APNsProtocol
import CertificateTestSupport
import PushCore
import SwiftASN1
import Testing
import X509

private let now = Timestamp(seconds: 1_780_272_000)
private let bundleID = Topic(rawValue: "com.example.todo")
private let team = TeamID(rawValue: "TEAM123456")

private func profile(
    _ environments: Set<PushEnvironment> = [.sandbox], _ services: [String] = []
) -> CertificateProfile {
    CertificateProfile(bundleID: bundleID, team: team, environments: environments, services: services)
}

/// What is wrong with a certificate.
private struct Wrong: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// What the refusal says.
    var word: String
    var change: @Sendable (inout [Certificate.Extension], inout DistinguishedName) throws -> Void
}

private let topicList: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 6]

private func topics(_ bytes: [UInt8]) -> Certificate.Extension {
    Certificate.Extension(oid: topicList, critical: false, value: bytes[...])
}

/// Provider certificates as Apple makes them: written, read back, and refused.
@Suite struct ProviderCertificateTests {
    @Test(
        arguments: [
            ([.sandbox], "Apple Development IOS Push Services: com.example.todo"),
            ([.production], "Apple Push Services: com.example.todo"),
            ([.sandbox, .production], "Apple Push Services: com.example.todo"),
        ] as [(Set<PushEnvironment>, String)])
    func `subject and environments are Apple's`(environments: Set<PushEnvironment>, name: String) throws {
        let made = try TestAuthority(now: now).certificate(profile(environments), now: now)
        #expect(made.bundleID == bundleID)
        #expect(made.commonName == name)
        #expect(made.environments == environments)
        #expect(made.topics == [.app(bundleID)])
        #expect(CertificateProfile(of: made, team: team) == profile(environments))
    }

    @Test func `the list of topics names each with its kinds`() throws {
        let made = try TestAuthority(now: now).certificate(profile([.sandbox], ["voip", "complication"]), now: now)
        #expect(
            made.topics.map(\.topic.rawValue) == [
                "com.example.todo", "com.example.todo.voip", "com.example.todo.complication",
            ])
        #expect(made.topics.map(\.kinds) == [["app"], ["voip"], ["complication"]])
        #expect(CertificateProfile(of: made, team: team).services == ["voip", "complication"])
    }

    @Test(arguments: [[], ["voip"]])
    func `a certificate of before the list is for the app, and its calls`(services: [String]) throws {
        let der = try TestAuthority(now: now).certificateBytes(profile([.production], services), now: now) {
            extensions, _ in extensions.removeAll { $0.oid == topicList }
        }
        #expect(
            try ProviderCertificate(der: der).topics
                == [.app(bundleID)] + services.map { CertificateTopic.service($0, of: bundleID) })
    }

    private static let wrongs = [
        Wrong(testDescription: "no UID", word: "UID") { _, subject in
            subject = try DistinguishedName { CommonName("push") }
        },
        Wrong(testDescription: "a UID that is no bundle id", word: "UID") { _, subject in
            subject = try DistinguishedName([
                RelativeDistinguishedName.Attribute(
                    type: [0, 9, 2342, 19_200_300, 100, 1, 1], utf8String: "com example")
            ])
        },
        Wrong(testDescription: "no environment", word: "development") { extensions, _ in
            extensions.removeAll { $0.oid != topicList }
        },
        Wrong(testDescription: "an empty list", word: "empty") { extensions, _ in
            extensions.removeAll { $0.oid == topicList }
            extensions.append(topics([0x30, 0]))
        },
        Wrong(testDescription: "a topic without its kinds", word: "100.6.3.6") { extensions, _ in
            extensions.removeAll { $0.oid == topicList }
            extensions.append(topics([0x30, 3, 0x0C, 1, 0x61]))
        },
        Wrong(testDescription: "a list that is cut off", word: "100.6.3.6") { extensions, _ in
            extensions.removeAll { $0.oid == topicList }
            extensions.append(topics([0x30, 9, 0x0C]))
        },
    ]

    @Test(arguments: wrongs)
    private func `what is not a provider certificate is refused in words`(wrong: Wrong) throws {
        let der = try TestAuthority(now: now).certificateBytes(profile(), now: now, change: wrong.change)
        let error = #expect(throws: ProviderCertificate.Malformed.self) { try ProviderCertificate(der: der) }
        #expect(error?.description.contains(wrong.word) == true, "\(error?.description ?? "")")
    }

    @Test func `bytes that are no certificate are refused, wherever they are cut off`() throws {
        let der = try TestAuthority(now: now).certificateBytes(profile(), now: now)
        for count in stride(from: 0, to: der.count, by: 7) {
            #expect(throws: ProviderCertificate.Malformed.self) { try ProviderCertificate(der: Array(der[..<count])) }
        }
        let long = [UInt8](repeating: 0x30, count: ProviderCertificate.maximumLength + 1)
        #expect(throws: ProviderCertificate.Malformed.self) { try ProviderCertificate(der: long) }
        #expect(throws: ProviderCertificate.Malformed.self) { try CertificateAuthority(der: long) }
    }

    @Test(arguments: ["60", "61"], [true, false])
    func `a time with a second that clocks do not show is refused`(second: String, isFirst: Bool) throws {
        var der = try TestAuthority(now: now).certificateBytes(profile(), now: now)
        // The tag of UTCTime and its length; the seconds are the last digits before the Z.
        let times = der.indices.dropLast(14).filter { der[$0...].starts(with: [0x17, 13]) && der[$0 + 14] == 0x5A }
        let time = try #require(isFirst ? times.first : times.last)
        der.replaceSubrange(time + 12..<time + 14, with: second.utf8)
        let error = #expect(throws: ProviderCertificate.Malformed.self) { try ProviderCertificate(der: der) }
        #expect(error?.description.contains("second \(second)") == true)
        #expect(throws: ProviderCertificate.Malformed.self) { try CertificateAuthority(der: der) }
    }

    @Test func `a certificate with any byte changed is read or refused`() throws {
        let authority = try TestAuthority(now: now)
        let der = try authority.certificateBytes(profile([.sandbox], ["voip"]), now: now)
        let (signer, identity) = (try authority.authority(), try ProviderCertificate(der: der).identity)
        for index in der.indices {
            for value in [0, 0xFF, der[index] ^ 1, der[index] ^ 0x80] as [UInt8] where value != der[index] {
                var changed = der
                changed[index] = value
                guard let read = try? ProviderCertificate(der: changed) else { continue }
                // The bits that a BIT STRING leaves unused are not signed: the same certificate in other bytes.
                #expect(!read.isSigned(by: signer) || read.identity == identity, "byte \(index) is \(value)")
            }
        }
    }

    @Test func `it counts from its first moment to its last`() throws {
        let made = try TestAuthority(now: now).certificate(profile(), now: now, days: 0...1)
        #expect(made.refusal(at: made.notBefore) == nil)
        #expect(made.refusal(at: made.notAfter) == nil)
        #expect(made.refusal(at: made.notBefore.adding(milliseconds: -1))?.reason == .badCertificate)
        #expect(made.refusal(at: made.notAfter.adding(milliseconds: 1))?.reason == .badCertificate)
    }

    @Test func `it is signed by its authority, and not by another of the same name`() throws {
        let authority = try TestAuthority(now: now)
        let made = try authority.certificate(profile(), now: now)
        #expect(made.isSigned(by: try authority.authority()))
        #expect(try !made.isSigned(by: TestAuthority(now: now).authority()))
    }

    @Test func `what may not sign is no authority`() throws {
        let one = try TestAuthority(now: now, isAuthority: false)
        #expect(throws: ProviderCertificate.Malformed.self) { try one.authority() }
        let leaf = try TestAuthority(now: now).certificate(profile(), now: now)
        #expect(throws: ProviderCertificate.Malformed.self) { try CertificateAuthority(der: leaf.der) }
    }
}
