import APNsProtocol
import CertificateTestSupport
import PushCore
import PushServer
import Testing

extension RegisterStoreContract {
    private func certificate(_ authority: TestAuthority) throws -> ProviderCertificate {
        try authority.certificate(
            CertificateProfile(bundleID: topic, team: team, environments: [.sandbox]), now: now)
    }

    private func entry(_ id: String, _ certificate: ProviderCertificate) -> RegisteredCertificate {
        RegisteredCertificate(certificateID: id, team: team, certificate: certificate, createdAt: now)
    }

    package func `a certificate is there once, and stays known when it was revoked`() async throws {
        let authority = try TestAuthority(now: now)
        let first = entry("CERT123456", try certificate(authority))
        let before = store.registerVersion
        try await store.addProviderCertificate(first)
        #expect(store.registerVersion != before)
        #expect(try await store.providerCertificates() == [first])
        await #expect(throws: RegisterError.certificateKnown("CERT123456")) {
            try await store.addProviderCertificate(entry("CERT999999", first.certificate))
        }
        await #expect(throws: RegisterError.certificateIDTaken("CERT123456")) {
            try await store.addProviderCertificate(entry("CERT123456", certificate(authority)))
        }
        let later = now.adding(milliseconds: 5)
        var revoked = first
        revoked.revokedAt = later
        let between = store.registerVersion
        #expect(try await store.revokeProviderCertificate("CERT123456", at: later) == revoked)
        #expect(store.registerVersion != between)
        #expect(try await store.revokeProviderCertificate("CERT123456", at: later) == nil)
        #expect(try await store.revokeProviderCertificate("CERT999999", at: later) == nil)
        #expect(try await store.providerCertificates() == [revoked])
        await #expect(throws: RegisterError.certificateKnown("CERT123456")) {
            try await store.addProviderCertificate(entry("CERT999999", first.certificate))
        }
    }

    package func `an authority is there until it is taken out`() async throws {
        let authority = RegisteredAuthority(
            authorityID: "AUTHORITY1", team: team, authority: try TestAuthority(now: now).authority(), createdAt: now)
        let before = store.registerVersion
        try await store.addCertificateAuthority(authority)
        #expect(store.registerVersion != before)
        #expect(try await store.certificateAuthorities() == [authority])
        await #expect(throws: RegisterError.certificateKnown("AUTHORITY1")) {
            try await store.addCertificateAuthority(authority)
        }
        let between = store.registerVersion
        #expect(try await store.revokeCertificateAuthority("AUTHORITY1", at: now) == authority)
        #expect(store.registerVersion != between)
        #expect(try await store.revokeCertificateAuthority("AUTHORITY1", at: now) == nil)
        #expect(try await store.certificateAuthorities().isEmpty)
        await #expect(throws: RegisterError.certificateIDTaken("AUTHORITY1")) {
            try await store.addCertificateAuthority(authority)
        }
    }

    package func `a team's id is given once`() async throws {
        let first = RegisteredTeam(id: team, name: "Harbour", createdAt: now)
        try await store.addTeam(first)
        await #expect(throws: RegisterError.teamTaken(team)) {
            try await store.addTeam(RegisteredTeam(id: team, name: "Other", createdAt: now))
        }
        #expect(try await store.teams() == [first])
    }

    package func `an app keeps its name and its capability until they are set anew`() async throws {
        #expect(try await store.updateApp(topic: topic, name: "Todo", isPushEnabled: false) == nil)
        var app = try await store.addApp(topic: topic, team: team, policy: MailboxPolicy(), at: now)
        #expect(app.isPushEnabled && app.name == nil)
        let before = store.registerVersion
        app.name = "Todo"
        #expect(try await store.updateApp(topic: topic, name: "Todo", isPushEnabled: nil) == app)
        app.isPushEnabled = false
        #expect(try await store.updateApp(topic: topic, name: nil, isPushEnabled: false) == app)
        #expect(store.registerVersion != before)
        app.policy = MailboxPolicy(limit: 7, overflow: .keepNewest)
        app.name = nil
        #expect(try await store.updateApp(topic: topic, name: "", isPushEnabled: nil, policy: app.policy) == app)
        #expect(try await store.apps() == [app])
        _ = try await store.removeApp(topic: topic, at: now)
        let again = try await store.addApp(topic: topic, team: team, policy: MailboxPolicy(), at: now)
        #expect(try await store.apps() == [again])
        #expect(again.isPushEnabled && again.name == nil)
    }
}
