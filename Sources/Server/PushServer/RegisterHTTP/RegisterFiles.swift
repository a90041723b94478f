import APNsProtocol
import PushCore

/// Makes and reads what the register's entries have in files; the port of the routes that change the register.
package protocol RegisterFiles: Sendable {
    /// Makes a provider key, and adds its public half to the register.
    func addKey(team: TeamID) async throws -> CreatedKey

    /// Signs a certificate for the key of a request in PEM.
    ///
    /// - Throws: ``ControlError`` for a request that cannot be used.
    func sign(_ request: String, as profile: CertificateProfile, days: Int) throws -> ProviderCertificate

    /// Signs a certificate anew: for its own key, or for that of a request in PEM.
    ///
    /// - Throws: ``ControlError`` for a request that cannot be used.
    func renew(
        _ certificate: RegisteredCertificate, request: String?, days: Int
    ) throws -> ProviderCertificate

    /// Reads a certificate in PEM that somebody else signed.
    ///
    /// - Throws: ``ControlError`` for a text that is none.
    func readCertificate(_ text: String) throws -> ProviderCertificate

    /// Writes a certificate as PEM.
    func text(of certificate: ProviderCertificate) -> String

    /// Makes a service account, and adds its public half to the register.
    ///
    /// - Parameter url: The server's address, as the account's holder reaches it; `nil` for the server's own.
    /// - Throws: ``ControlError`` for an address that cannot be used.
    func addServiceAccount(team: TeamID, url: String?) async throws -> MadeServiceAccount

    /// The certificates that the server itself shows to its clients.
    func serverCertificates() throws -> [ServerCertificateState]
}

/// A new provider key with its private half.
package struct CreatedKey: Sendable {
    /// The entry of the register.
    package var key: ProviderKey
    /// The private half, PKCS#8 in PEM.
    @Secret package var privateKey: String

    /// Brings the parts together.
    package init(key: ProviderKey, privateKey: String) {
        self.key = key
        _privateKey = Secret(privateKey)
    }
}

/// A new service account with its file.
package struct MadeServiceAccount: Sendable {
    /// The entry of the register.
    package var account: ServiceAccount
    /// The file for FCM's libraries, which has the private half.
    @Secret package var file: String

    /// Brings the parts together.
    package init(account: ServiceAccount, file: String) {
        self.account = account
        _file = Secret(file)
    }
}

/// A certificate that the server itself shows to its clients.
package struct ServerCertificateState: Encodable, Sendable {
    /// The hosts that it names.
    package var names: [String]
    /// The time at which it ends, ISO 8601.
    package var notAfter: String
    /// The days until then; negative once it has ended.
    package var daysLeft: Int
    /// Whether the server makes its successor by itself.
    package var isRenewedByServer: Bool

    /// Brings the parts together.
    package init(names: [String], notAfter: Timestamp, now: Timestamp, isRenewedByServer: Bool) {
        self.names = names
        self.notAfter = notAfter.description
        daysLeft = notAfter.days(since: now)
        self.isRenewedByServer = isRenewedByServer
    }
}

extension Timestamp {
    /// The whole days since another instant; negative where that is later.
    package func days(since other: Timestamp) -> Int {
        Int((Double(milliseconds(since: other)) / 86_400_000).rounded(.down))
    }
}
