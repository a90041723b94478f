import APNsProtocol
import PushCore

/// Durable storage of provider certificates and the authorities of teams; part of the register.
package protocol CertificateRegister: Sendable {
    /// The version, which changes with every change, as ``RegisterStore/registerVersion``.
    var registerVersion: UInt64 { get }

    /// All certificates, including revoked ones, the oldest first.
    func providerCertificates() async throws -> [RegisteredCertificate]

    /// Adds a certificate. - Throws: ``RegisterError`` when the register has it, or its id is taken.
    func addProviderCertificate(_ certificate: RegisteredCertificate) async throws

    /// Revokes a certificate for good; `nil` when there is none with that id, or it was revoked before.
    func revokeProviderCertificate(_ certificateID: String, at now: Timestamp) async throws -> RegisteredCertificate?

    /// The authorities that were not revoked, the oldest first.
    func certificateAuthorities() async throws -> [RegisteredAuthority]

    /// Adds an authority. - Throws: ``RegisterError`` when the register has it, or its id is taken.
    func addCertificateAuthority(_ authority: RegisteredAuthority) async throws

    /// Revokes an authority for good; `nil` when there is none with that id.
    func revokeCertificateAuthority(_ authorityID: String, at now: Timestamp) async throws -> RegisteredAuthority?
}

/// A provider certificate in the server's register.
package struct RegisteredCertificate: Hashable, Sendable {
    /// The id: ten characters `A-Z0-9`, unique over all teams.
    package var certificateID: String
    /// The team that owns the certificate.
    package var team: TeamID
    /// The parsed certificate.
    package var certificate: ProviderCertificate
    /// The time at which it was added to the register.
    package var createdAt: Timestamp
    /// The time at which it was revoked; `nil` while it was not.
    package var revokedAt: Timestamp?

    /// Creates an entry of the register; nothing is checked.
    package init(
        certificateID: String, team: TeamID, certificate: ProviderCertificate, createdAt: Timestamp,
        revokedAt: Timestamp? = nil
    ) {
        self.certificateID = certificateID
        self.team = team
        self.certificate = certificate
        self.createdAt = createdAt
        self.revokedAt = revokedAt
    }
}

/// An authority of a team in the server's register: certificates that it signs need not be added one by one.
package struct RegisteredAuthority: Hashable, Sendable {
    /// The id: ten characters `A-Z0-9`.
    package var authorityID: String
    /// The team for whose apps its certificates are valid.
    package var team: TeamID
    /// The authority's own parsed certificate.
    package var authority: CertificateAuthority
    /// The time at which it was added to the register.
    package var createdAt: Timestamp

    /// Creates an entry of the register; nothing is checked.
    package init(authorityID: String, team: TeamID, authority: CertificateAuthority, createdAt: Timestamp) {
        self.authorityID = authorityID
        self.team = team
        self.authority = authority
        self.createdAt = createdAt
    }
}
