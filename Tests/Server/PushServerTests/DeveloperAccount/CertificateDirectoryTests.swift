import APNsProtocol
import AldabaTestSupport
import CertificateTestSupport
import PushCore
import PushServer
import Synchronization
import Testing

/// A register of certificates that counts how often it is read, and may fail.
private final class CountedRegister: CertificateRegister {
    struct Failure: Error {}

    struct Contents: Sendable {
        var version: UInt64 = 1
        var reads = 0
        var fails = false
        var certificates: [RegisteredCertificate] = []
        var authorities: [RegisteredAuthority] = []
    }

    private let contents = Mutex(Contents())

    var reads: Int { contents.withLock { $0.reads } }

    var registerVersion: UInt64 { contents.withLock { $0.version } }

    /// Changes what the register holds, as a command beside the server does.
    func change(_ body: (inout Contents) -> Void) {
        contents.withLock {
            body(&$0)
            $0.version += 1
        }
    }

    /// Changes what the register holds, and nobody is told: its version stays.
    func changeUntold(_ body: (inout Contents) -> Void) { contents.withLock { body(&$0) } }

    func providerCertificates() async throws -> [RegisteredCertificate] {
        try contents.withLock { contents in
            contents.reads += 1
            if contents.fails { throw Failure() }
            return contents.certificates
        }
    }

    func certificateAuthorities() async throws -> [RegisteredAuthority] { contents.withLock { $0.authorities } }

    // The directory only reads.

    func addProviderCertificate(_ certificate: RegisteredCertificate) async throws { throw Failure() }

    func revokeProviderCertificate(
        _ certificateID: String, at now: Timestamp
    ) async throws -> RegisteredCertificate? { throw Failure() }

    func addCertificateAuthority(_ authority: RegisteredAuthority) async throws { throw Failure() }

    func revokeCertificateAuthority(
        _ authorityID: String, at now: Timestamp
    ) async throws -> RegisteredAuthority? { throw Failure() }
}

/// Which certificates count, for what, and since when they do not.
@Suite struct CertificateDirectoryTests {
    private let register = CountedRegister()
    private let clock = ManualClock()
    private let team = TeamID(rawValue: "TEAM123456")
    private let bundleID = Topic(rawValue: "com.example.todo")

    private func directory() -> CertificateDirectory { CertificateDirectory(store: register, clock: clock.function) }

    private func profile(
        _ environments: Set<PushEnvironment> = [.sandbox], _ services: [String] = []
    ) -> CertificateProfile {
        CertificateProfile(bundleID: bundleID, team: team, environments: environments, services: services)
    }

    private func add(_ certificate: ProviderCertificate, revokedAt: Timestamp? = nil) {
        let entry = RegisteredCertificate(
            certificateID: "CERT123456", team: team, certificate: certificate, createdAt: clock.now,
            revokedAt: revokedAt)
        register.change { $0.certificates.append(entry) }
    }

    /// The reason of a refusal; `nil` for a credential.
    private func reason(_ verdict: CertificateDirectory.CachedVerdict) -> APNsReason? {
        switch verdict {
        case .credential: nil
        case .refused(let refusal, _): refusal.reason
        case .needsLookUp: .internalServerError
        }
    }

    @Test(
        arguments: [
            ([.sandbox], .sandbox, nil), ([.sandbox], .production, .badCertificateEnvironment),
            ([.production], .sandbox, .badCertificateEnvironment), ([.production], .production, nil),
            ([.sandbox, .production], .sandbox, nil), ([.sandbox, .production], .production, nil),
        ] as [(Set<PushEnvironment>, PushEnvironment, APNsReason?)])
    func `a certificate counts in its environments`(
        of environments: Set<PushEnvironment>, in environment: PushEnvironment, answer: APNsReason?
    ) async throws {
        let certificate = try TestAuthority(now: clock.now).certificate(profile(environments), now: clock.now)
        add(certificate)
        let verdict = try await directory().find(certificate.der, in: environment)
        #expect(reason(verdict) == answer)
        guard case .credential(let credential) = verdict else { return }
        #expect(credential.team == team)
        #expect(credential.id == "CERT123456")
    }

    @Test func `one that nobody added is refused, also when it is no provider certificate at all`() async throws {
        let directory = directory()
        let authority = try TestAuthority(now: clock.now)
        for der in [try authority.certificate(profile(), now: clock.now).der, authority.der, [], [1, 2, 3]] {
            #expect(reason(try await directory.find(der, in: .sandbox)) == .badCertificate)
        }
        #expect(register.reads == 1)
    }

    @Test func `one that was revoked stays so, however its signature is written`() async throws {
        let authority = try TestAuthority(now: clock.now)
        // The last bit of every other signature is 0, so that it can be declared unused.
        var der = try authority.certificate(profile(), now: clock.now).der
        while der[der.count - 1] & 1 != 0 { der = try authority.certificate(profile(), now: clock.now).der }
        add(try ProviderCertificate(der: der), revokedAt: clock.now)
        let entry = RegisteredAuthority(
            authorityID: "AUTH123456", team: team, authority: try authority.authority(), createdAt: clock.now)
        register.change { $0.authorities.append(entry) }
        let place = (68...72).map { der.count - 1 - $0 }.first { der[$0] == 0 && Int(der[$0 - 1]) == der.count - $0 }
        let unused = try #require(place)
        var rewritten = der
        rewritten[unused] = 1
        let read = try ProviderCertificate(der: rewritten)
        #expect(
            try read.isSigned(by: authority.authority())
                && read.fingerprint != ProviderCertificate(der: der).fingerprint)
        #expect(reason(try await directory().find(rewritten, in: .sandbox)) == .badCertificate)
    }

    @Test func `a reading that finds it revoked counts for open connections, though the register's version stayed`()
        async throws
    {
        let directory = directory()
        let certificate = try TestAuthority(now: clock.now).certificate(profile(), now: clock.now)
        add(certificate)
        try await directory.reload()
        var memory = CertificateDirectory.Memory(der: certificate.der)
        #expect(reason(directory.known(&memory, in: .sandbox)) == nil)
        register.changeUntold { $0.certificates[0].revokedAt = $0.certificates[0].createdAt }
        try await directory.reload()
        #expect(reason(directory.known(&memory, in: .sandbox)) == .badCertificate)
    }

    @Test func `its end and its revocation count on a connection that was open before`() async throws {
        let directory = directory()
        let certificate = try TestAuthority(now: clock.now).certificate(profile(), now: clock.now, days: -1...1)
        add(certificate)
        try await directory.reload()
        var memory = CertificateDirectory.Memory(der: certificate.der)
        #expect(reason(directory.known(&memory, in: .sandbox)) == nil)
        clock.advance(milliseconds: 86_400_000 + 1000)
        #expect(reason(directory.known(&memory, in: .sandbox)) == .badCertificate)
        clock.advance(milliseconds: -86_400_000)
        #expect(reason(directory.known(&memory, in: .sandbox)) == nil)
        register.change { $0.certificates[0].revokedAt = $0.certificates[0].createdAt }
        guard case .needsLookUp = directory.known(&memory, in: .sandbox) else {
            Issue.record("the register has changed, and it was answered from memory")
            return
        }
        let verdict = try await directory.find(certificate.der, in: .sandbox)
        #expect(reason(verdict) == .badCertificate)
        guard case .refused(_, let owner?) = verdict else {
            Issue.record("the refusal does not say whose certificate it is")
            return
        }
        #expect(owner == CredentialDirectory.KnownKey(team: team, keyID: KeyID(rawValue: "CERT123456")))
    }

    @Test func `what a team's authority signed counts for that team, until it is taken out or revoked`() async throws {
        let directory = directory()
        let authority = try TestAuthority(now: clock.now)
        let entry = RegisteredAuthority(
            authorityID: "AUTHORITY1", team: team, authority: try authority.authority(), createdAt: clock.now)
        let certificate = try authority.certificate(profile(), now: clock.now)
        register.change { $0.authorities = [entry] }
        guard case .credential(let credential) = try await directory.find(certificate.der, in: .sandbox) else {
            Issue.record("what the authority signed does not count")
            return
        }
        #expect(credential.team == team)
        let stranger = try TestAuthority(now: clock.now).certificate(profile(), now: clock.now)
        #expect(reason(try await directory.find(stranger.der, in: .sandbox)) == .badCertificate)
        add(certificate, revokedAt: clock.now)
        #expect(reason(try await directory.find(certificate.der, in: .sandbox)) == .badCertificate)
        let second = try authority.certificate(profile(), now: clock.now)
        #expect(reason(try await directory.find(second.der, in: .sandbox)) == nil)
        register.change { $0.authorities = [] }
        #expect(reason(try await directory.find(second.der, in: .sandbox)) == .badCertificate)
    }

    @Test func `an authority that has ended vouches for nobody`() async throws {
        let authority = try TestAuthority(now: clock.now, days: 1)
        let entry = RegisteredAuthority(
            authorityID: "AUTHORITY1", team: team, authority: try authority.authority(), createdAt: clock.now)
        register.change { $0.authorities = [entry] }
        let certificate = try authority.certificate(profile(), now: clock.now)
        let directory = directory()
        try await directory.reload()
        var memory = CertificateDirectory.Memory(der: certificate.der)
        #expect(reason(directory.known(&memory, in: .sandbox)) == nil)
        clock.advance(milliseconds: 2 * 86_400_000)
        #expect(reason(directory.known(&memory, in: .sandbox)) == .badCertificate)
    }

    @Test func `a store that cannot be read makes nobody a sender`() async throws {
        let certificate = try TestAuthority(now: clock.now).certificate(profile(), now: clock.now)
        add(certificate)
        register.change { $0.fails = true }
        await #expect(throws: CountedRegister.Failure.self) {
            try await directory().find(certificate.der, in: .sandbox)
        }
    }

    @Test(
        arguments: [
            ([], nil, "com.example.todo"), ([], "com.example.todo", "com.example.todo"),
            ([], "com.example.todo.pushkit.fileprovider", "com.example.todo.pushkit.fileprovider"),
            ([], "com.example.todo.voip", nil), ([], "com.example.other", nil), (["voip"], nil, nil),
            (["voip"], "com.example.todo.voip", "com.example.todo.voip"),
            (["voip"], "com.example.todo.complication", nil),
        ] as [([String], String?, String?)])
    func `a certificate of one topic implies it, and none goes beyond its own`(
        services: [String], sent: String?, answer: String?
    ) throws {
        let certificate = try TestAuthority(now: clock.now).certificate(profile([.sandbox], services), now: clock.now)
        let credential = CertificateDirectory.Credential(team: team, id: "CERT123456", certificate: certificate)
        let topic = try? credential.topic(sent.map(Topic.init))
        #expect(topic?.rawValue == answer)
    }
}
