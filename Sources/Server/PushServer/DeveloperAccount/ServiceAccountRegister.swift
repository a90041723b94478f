import PushCore

/// Durable storage of the service accounts of teams; part of the register.
package protocol ServiceAccountRegister: Sendable {
    /// The version, which changes with every change, as ``RegisterStore/registerVersion``.
    var registerVersion: UInt64 { get }

    /// All service accounts, including revoked ones, the oldest first.
    func serviceAccounts() async throws -> [ServiceAccount]

    /// Adds a service account. - Throws: ``RegisterError`` when its key's id or its e-mail is taken.
    func addServiceAccount(_ account: ServiceAccount) async throws

    /// Revokes a service account for good; `nil` when there is none with that key id, or it was revoked before.
    func revokeServiceAccount(_ keyID: String, at now: Timestamp) async throws -> ServiceAccount?
}

/// A service account in the server's register: with its key a provider requests the access tokens of FCM's API.
package struct ServiceAccount: Hashable, Sendable {
    /// The id of its key: 40 hexadecimal digits in lower case, unique over all teams.
    package var keyID: String
    /// The team that it sends for.
    package var team: TeamID
    /// The account's unique name, in the form of an e-mail address.
    package var email: String
    /// The public half of its key: RSA, as PEM (RFC 7468, `PUBLIC KEY`).
    package var publicKeyPEM: String
    /// The time at which it was added to the register.
    package var createdAt: Timestamp
    /// The time at which it was revoked; `nil` while it was not.
    package var revokedAt: Timestamp?

    /// Creates an entry of the register; nothing is checked.
    package init(
        keyID: String, team: TeamID, email: String, publicKeyPEM: String, createdAt: Timestamp,
        revokedAt: Timestamp? = nil
    ) {
        self.keyID = keyID
        self.team = team
        self.email = email
        self.publicKeyPEM = publicKeyPEM
        self.createdAt = createdAt
        self.revokedAt = revokedAt
    }
}
