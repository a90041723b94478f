import APNsProtocol
import Crypto
import Foundation
import PushCore

/// Creates credentials from operators' files, and refuses those that cannot work.
package enum CredentialReader {
    /// The reason why a credential cannot be used, with the values that are right.
    package struct Fault: Error, CustomStringConvertible {
        /// A description; never the key.
        package let description: String

        /// Creates a fault with a description.
        package init(_ description: String) { self.description = description }
    }

    /// The address of Apple's provider API.
    package static func appleAddress(_ environment: PushEnvironment) -> String {
        environment == .production ? "https://api.push.apple.com" : "https://api.sandbox.push.apple.com"
    }

    /// The address of FCM.
    package static let googleAddress = "https://fcm.googleapis.com"

    /// Reads a key of Apple's, `AuthKey_KEYID.p8`.
    package static func apple(
        pem: String, keyID: String, team: String, environment: PushEnvironment, address: String?, hub: HubRecord,
        at now: Timestamp
    ) throws(Fault) -> PushCredential {
        guard (try? P256.Signing.PrivateKey(pemRepresentation: pem)) != nil else {
            throw Fault("the key is no P-256 private key in PEM, as Apple's AuthKey_KEYID.p8 is")
        }
        guard KeyID.hasShape(keyID) else { throw Fault("the key's id is not ten characters A-Z0-9") }
        guard TeamID.hasShape(team) else { throw Fault("the team is not ten characters A-Z0-9") }
        return PushCredential(
            hub: hub.number, kind: .apns, environment: environment,
            address: try secured(address ?? appleAddress(environment)), name: keyID, owner: team, secret: pem,
            createdAt: now)
    }

    /// Reads a client certificate of Apple's with its chain and key, in PEM.
    package static func apple(
        certificate pem: String, environment: PushEnvironment, address: String?, hub: HubRecord, at now: Timestamp
    ) throws(Fault) -> PushCredential {
        let certificate: ProviderCertificate
        do { certificate = try ProviderCertificate(der: try der(pem)) } catch {
            throw Fault("the certificate cannot be used: \(error)")
        }
        guard pem.contains("PRIVATE KEY-----") else {
            throw Fault("the file has no private key beside the certificate")
        }
        guard certificate.environments.contains(environment) else {
            throw Fault("the certificate is not for the environment \(environment.rawValue)")
        }
        guard certificate.topics.contains(where: { $0.topic == hub.topic }) else {
            throw Fault("the certificate is for \(certificate.bundleID), the hub's app is \(hub.topic)")
        }
        guard certificate.notAfter > now else { throw Fault("the certificate expired at \(certificate.notAfter)") }
        return PushCredential(
            hub: hub.number, kind: .apnsCertificate, environment: environment,
            address: try secured(address ?? appleAddress(environment)),
            name: certificate.commonName.isEmpty ? certificate.bundleID.rawValue : certificate.commonName, owner: "",
            secret: pem, expiresAt: certificate.notAfter, createdAt: now)
    }

    /// Reads a service account of FCM's.
    package static func google(
        _ text: String, address: String?, hub: HubRecord, at now: Timestamp
    ) throws(Fault) -> PushCredential {
        let account: ServiceAccountKey
        do { account = try ServiceAccountKey(text) } catch {
            throw Fault("the service account cannot be used: \(error)")
        }
        _ = try plain(account.tokenAddress)
        return PushCredential(
            hub: hub.number, kind: .fcm, environment: nil, address: try plain(address ?? googleAddress),
            name: account.email, owner: account.project, secret: text, createdAt: now)
    }

    /// Reads a VAPID key, or generates one where none is given.
    ///
    /// - Parameters:
    ///   - key: The key in PEM, or its 32 bytes as base64url.
    ///   - subject: The contact for push services: `mailto:…` or `https://…` (RFC 8292, section 2.1).
    package static func webPush(
        key: String?, subject: String, hub: HubRecord, at now: Timestamp
    ) throws(Fault) -> PushCredential {
        let lower = subject.lowercased()
        guard lower.hasPrefix("mailto:") && subject.contains("@") || lower.hasPrefix("https://") else {
            throw Fault("the subject is mailto:ADDRESS or https://HOST, since push services turn to it")
        }
        guard subject.utf8.count <= 255, !lower.hasSuffix("@localhost"), !lower.hasPrefix("https://localhost") else {
            throw Fault("the subject names localhost, which Apple's push service refuses")
        }
        let made: P256.Signing.PrivateKey
        if let key {
            let text = key.trimmingCharacters(in: .whitespacesAndNewlines)
            let raw = Base64URL.decode(text.utf8).flatMap { try? P256.Signing.PrivateKey(rawRepresentation: $0) }
            guard let read = raw ?? (try? P256.Signing.PrivateKey(pemRepresentation: text)) else {
                throw Fault("the key is no P-256 private key: PEM, or 32 bytes as base64url")
            }
            made = read
        } else {
            made = P256.Signing.PrivateKey()
        }
        return PushCredential(
            hub: hub.number, kind: .webpush, environment: nil, address: "",
            name: Base64URL.encode(Array(made.publicKey.x963Representation)), owner: subject,
            secret: made.pemRepresentation, createdAt: now)
    }

    /// The address of a service that is reached by TLS alone.
    private static func secured(_ address: String) throws(Fault) -> String {
        guard address.lowercased().hasPrefix("https://") else {
            throw Fault("\"\(address)\" is not https://host; APNs is HTTP/2 over TLS")
        }
        return try plain(address)
    }

    /// An address without a trailing slash, `https://host[:port]`, or `http://` for loopback.
    private static func plain(_ address: String) throws(Fault) -> String {
        let loopback = ["127.0.0.1", "localhost", "::1", "[::1]"]
        guard let parts = URLComponents(string: address), let host = parts.host, !host.isEmpty, parts.query == nil,
            parts.fragment == nil, parts.user == nil,
            parts.scheme == "https" || (parts.scheme == "http" && loopback.contains(host))
        else {
            throw Fault("\"\(address)\" is not https://host; plain http is for loopback, since secrets are sent there")
        }
        return address.hasSuffix("/") ? String(address.dropLast()) : address
    }

    /// The bytes of the first certificate of a PEM text.
    private static func der(_ pem: String) throws(Fault) -> [UInt8] {
        guard let start = pem.range(of: "-----BEGIN CERTIFICATE-----"),
            let end = pem.range(of: "-----END CERTIFICATE-----", range: start.upperBound..<pem.endIndex),
            let bytes = Data(
                base64Encoded: String(pem[start.upperBound..<end.lowerBound]), options: .ignoreUnknownCharacters)
        else { throw Fault("the file has no certificate in PEM") }
        return Array(bytes)
    }
}
