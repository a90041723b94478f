import APNsProtocol
import AldabaConfiguration
import Foundation
import PushCore
import PushServer
import SQLiteStore

/// Makes keys, certificates and service accounts in a server's data folder, as the commands do.
struct RegisterFolder: RegisterFiles {
    let folder: DataFolder
    let store: any ServerStoreRegister
    /// The address of the control API; `nil` before it is bound.
    let address: @Sendable () -> String?
    /// The files of the certificate that the server shows.
    let certificate: (path: String, key: String)
    /// Whether that certificate is the server's own, which it renews.
    let isOwnCertificate: Bool
    let clock: @Sendable () -> Timestamp

    func addKey(team: TeamID) async throws -> CreatedKey {
        let (entry, ring) = try await ServerRegister.addKey(team: team, folder: folder, store: store)
        let file = try ProviderKeyFile(path: ring.path(of: entry))
        let key = ProviderKey(
            keyID: file.keyID, team: team, publicKeyPEM: file.key.publicKey.pemRepresentation,
            createdAt: Timestamp(rawValue: entry.createdAt))
        return CreatedKey(key: key, privateKey: file.key.pemRepresentation + "\n")
    }

    func sign(_ request: String, as profile: CertificateProfile, days: Int) throws -> ProviderCertificate {
        let request = try refusing { try SigningRequest(text: request) }
        return try signingAuthority().sign(request, as: profile, days: days, now: Date())
    }

    func renew(
        _ certificate: RegisteredCertificate, request: String?, days: Int
    ) throws -> ProviderCertificate {
        guard let request else {
            return try signingAuthority().renew(
                certificate.certificate, team: certificate.team, days: days, now: Date())
        }
        return try sign(
            request, as: CertificateProfile(of: certificate.certificate, team: certificate.team), days: days)
    }

    private func signingAuthority() throws -> SigningAuthority {
        try .development(folder: folder.providerAuthority, now: Date())
    }

    func readCertificate(_ text: String) throws -> ProviderCertificate {
        let der = try refusing {
            try EncodedFile.first(["CERTIFICATE"], of: Array(text.utf8), path: "the certificate")
        }
        do { return try ProviderCertificate(der: der) } catch {
            throw ControlError.invalid("the text is no provider certificate: \(error)")
        }
    }

    /// Answers a document that cannot be used as a refusal.
    private func refusing<Value>(_ read: () throws -> Value) throws -> Value {
        do { return try read() } catch let fault as EncodedFile.Unusable {
            throw ControlError.invalid(fault.description)
        }
    }

    func text(of certificate: ProviderCertificate) -> String { EncodedFile.certificatePEM(certificate.der) }

    func addServiceAccount(team: TeamID, url: String?) async throws -> MadeServiceAccount {
        guard let server = url ?? address() else { throw ControlError.unavailable }
        if let fault = ServerRegister.fault(inAddress: server) { throw ControlError.invalid("url: \(fault)") }
        let made = try await ServerRegister.addServiceAccount(
            team: team, server: server, folder: folder, store: store)
        guard let file = try PrivateFile.secret(made.path) else { throw ControlError.unavailable }
        return MadeServiceAccount(account: made.account, file: file.wrappedValue)
    }

    func serverCertificates() throws -> [ServerCertificateState] {
        let files = try CertificateFiles(certificate: certificate.path, key: certificate.key)
        return [
            ServerCertificateState(
                names: files.names, notAfter: Timestamp(seconds: Int64(files.end.timeIntervalSince1970)),
                now: clock(), isRenewedByServer: isOwnCertificate)
        ]
    }
}
