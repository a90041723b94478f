import APNsWire
import PushModel

/// Where provider certificates and the authorities of teams are durable; part of the register.
public protocol CertificateRegister: Sendable {
    /// Another number after every change, as ``RegisterStore/registerVersion``.
    var registerVersion: UInt64 { get }

    /// All certificates, also those that were revoked, the oldest first.
    func providerCertificates() async throws -> [RegisteredCertificate]

    /// Adds a certificate. - Throws: ``RegisterError`` when the register has it, or its id is taken.
    func addProviderCertificate(_ certificate: RegisteredCertificate) async throws

    /// Revokes a certificate for good; `nil` when there is none of that id, or it was revoked before.
    func revokeProviderCertificate(_ certificateID: String, at now: Timestamp) async throws -> RegisteredCertificate?

    /// The authorities that were not taken out, the oldest first.
    func certificateAuthorities() async throws -> [RegisteredAuthority]

    /// Adds an authority. - Throws: ``RegisterError`` when the register has it, or its id is taken.
    func addCertificateAuthority(_ authority: RegisteredAuthority) async throws

    /// Takes an authority out for good; `nil` when there is none of that id.
    func revokeCertificateAuthority(_ authorityID: String, at now: Timestamp) async throws -> RegisteredAuthority?
}

/// A provider certificate in the server's register.
public struct RegisteredCertificate: Hashable, Sendable {
    /// Ten characters `A-Z0-9`; the register has it once, over all teams.
    public var certificateID: String
    /// The team that owns the certificate.
    public var team: TeamID
    /// What the certificate says.
    public var certificate: ProviderCertificate
    /// When it was added to the register.
    public var createdAt: Timestamp
    /// When it was revoked; `nil` while it was not.
    public var revokedAt: Timestamp?

    /// Makes an entry of the register; nothing is checked.
    public init(
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

/// An authority of a team in the server's register: what it signs need not be added one by one.
public struct RegisteredAuthority: Hashable, Sendable {
    /// Ten characters `A-Z0-9`.
    public var authorityID: String
    /// The team whose apps its certificates may be for.
    public var team: TeamID
    /// What the authority's own certificate says.
    public var authority: CertificateAuthority
    /// When it was added to the register.
    public var createdAt: Timestamp

    /// Makes an entry of the register; nothing is checked.
    public init(authorityID: String, team: TeamID, authority: CertificateAuthority, createdAt: Timestamp) {
        self.authorityID = authorityID
        self.team = team
        self.authority = authority
        self.createdAt = createdAt
    }
}
