import PushCore
import PushServer

extension MemoryStore: CertificateRegister {
    /// All certificates, the oldest first.
    package func providerCertificates() async throws -> [RegisteredCertificate] {
        state.withLock { $0.register.shelf.certificates }
    }

    /// Adds a certificate.
    package func addProviderCertificate(_ certificate: RegisteredCertificate) async throws {
        try state.withLock { state in try state.register.changeShelf { try $0.add(certificate) } }
    }

    /// Revokes a certificate, which remains in the store.
    package func revokeProviderCertificate(
        _ certificateID: String, at now: Timestamp
    ) async throws -> RegisteredCertificate? {
        state.withLock { state in state.register.changeShelf { $0.revokeCertificate(certificateID, at: now) } }
    }

    /// The authorities that were not revoked, the oldest first.
    package func certificateAuthorities() async throws -> [RegisteredAuthority] {
        state.withLock { $0.register.shelf.authorities }
    }

    /// Adds an authority.
    package func addCertificateAuthority(_ authority: RegisteredAuthority) async throws {
        try state.withLock { state in try state.register.changeShelf { try $0.add(authority) } }
    }

    /// Revokes an authority.
    package func revokeCertificateAuthority(
        _ authorityID: String, at now: Timestamp
    ) async throws -> RegisteredAuthority? {
        state.withLock { state in state.register.changeShelf { $0.revokeAuthority(authorityID) } }
    }
}

extension MemoryStore: TeamRegister {
    /// The teams that have a name, in the order of their ids.
    package func teams() async throws -> [RegisteredTeam] { state.withLock { $0.register.shelf.teams } }

    /// Adds a team.
    package func addTeam(_ team: RegisteredTeam) async throws {
        try state.withLock { state in try state.register.changeShelf { try $0.add(team) } }
    }

    /// Sets the given properties of an app.
    package func updateApp(
        topic: Topic, name: String?, isPushEnabled: Bool?, policy: MailboxPolicy?
    ) async throws -> RegisteredApp? {
        state.withLock { $0.register.updateApp(topic: topic, name: name, isPushEnabled: isPushEnabled, policy: policy) }
    }
}
