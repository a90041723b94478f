import PushCore
import PushServer

/// The rows of certificates, authorities, service accounts and the names of teams: a value.
struct CertificateShelf: Sendable {
    private(set) var certificates: [RegisteredCertificate] = []
    private(set) var authorities: [RegisteredAuthority] = []
    private(set) var teams: [RegisteredTeam] = []
    private(set) var serviceAccounts: [ServiceAccount] = []
    private var authorityIDs: Set<String> = []

    mutating func add(_ certificate: RegisteredCertificate) throws {
        if let known = certificates.first(where: { $0.certificate.der == certificate.certificate.der }) {
            throw RegisterError.certificateKnown(known.certificateID)
        }
        guard !certificates.contains(where: { $0.certificateID == certificate.certificateID }) else {
            throw RegisterError.certificateIDTaken(certificate.certificateID)
        }
        certificates.append(certificate)
        certificates.sort { ($0.createdAt, $0.certificateID) < ($1.createdAt, $1.certificateID) }
    }

    mutating func revokeCertificate(_ id: String, at now: Timestamp) -> RegisteredCertificate? {
        guard let index = certificates.firstIndex(where: { $0.certificateID == id && $0.revokedAt == nil }) else {
            return nil
        }
        certificates[index].revokedAt = now
        return certificates[index]
    }

    mutating func add(_ authority: RegisteredAuthority) throws {
        if let known = authorities.first(where: { $0.authority.der == authority.authority.der }) {
            throw RegisterError.certificateKnown(known.authorityID)
        }
        guard authorityIDs.insert(authority.authorityID).inserted else {
            throw RegisterError.certificateIDTaken(authority.authorityID)
        }
        authorities.append(authority)
        authorities.sort { ($0.createdAt, $0.authorityID) < ($1.createdAt, $1.authorityID) }
    }

    mutating func revokeAuthority(_ id: String) -> RegisteredAuthority? {
        authorities.firstIndex { $0.authorityID == id }.map { authorities.remove(at: $0) }
    }

    mutating func add(_ team: RegisteredTeam) throws {
        guard !teams.contains(where: { $0.id == team.id }) else { throw RegisterError.teamTaken(team.id) }
        teams.append(team)
        teams.sort { $0.id.rawValue < $1.id.rawValue }
    }

    mutating func add(_ account: ServiceAccount) throws {
        guard !serviceAccounts.contains(where: { $0.keyID == account.keyID || $0.email == account.email }) else {
            throw RegisterError.serviceAccountTaken(account.email)
        }
        serviceAccounts.append(account)
        serviceAccounts.sort { ($0.createdAt, $0.keyID) < ($1.createdAt, $1.keyID) }
    }

    mutating func revokeServiceAccount(_ keyID: String, at now: Timestamp) -> ServiceAccount? {
        guard let index = serviceAccounts.firstIndex(where: { $0.keyID == keyID && $0.revokedAt == nil }) else {
            return nil
        }
        serviceAccounts[index].revokedAt = now
        return serviceAccounts[index]
    }
}
