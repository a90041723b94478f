import Crypto
import Networking
import PushCore

/// A provider's credential.
public struct APNsCredential: Sendable {
    enum Kind: Sendable {
        case token(ProviderTokenSource)
        case certificate(ClientIdentity)
    }

    let kind: Kind

    /// The fault of a credential. It never contains the credential itself.
    public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// The fault in plain English.
        public let description: String
    }

    /// Creates a credential from a key of Apple's, `AuthKey_KEYID.p8`.
    ///
    /// - Parameters:
    ///   - pem: The text of the file.
    ///   - keyID: The id of the key: ten characters.
    ///   - teamID: The id of the team: ten characters.
    public static func key(pem: String, keyID: String, teamID: String) throws(Fault) -> APNsCredential {
        // The fault tells nothing of the text, which is a secret.
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) else {
            throw Fault(description: "the key is no P-256 private key in PEM, as AuthKey_KEYID.p8 is")
        }
        guard KeyID.hasShape(keyID) else { throw Fault(description: "the key's id is not ten characters A-Z0-9") }
        guard TeamID.hasShape(teamID) else { throw Fault(description: "the team's id is not ten characters A-Z0-9") }
        let source = ProviderTokenSource(key: key, keyID: KeyID(rawValue: keyID), team: TeamID(rawValue: teamID))
        return APNsCredential(kind: .token(source))
    }

    /// Creates a credential from a client certificate that was read.
    package static func certificate(_ identity: ClientIdentity) -> APNsCredential {
        APNsCredential(kind: .certificate(identity))
    }

    /// Creates a credential from a client certificate with its chain and key in PEM, in any order.
    public static func certificate(pem: String) throws(Fault) -> APNsCredential {
        do { return APNsCredential(kind: .certificate(try ClientIdentity(pem: pem))) } catch {
            throw Fault(description: "the text holds no certificate with its private key in PEM")
        }
    }

    /// Creates a credential from a client certificate as Keychain Access exports it, in PKCS #12.
    public static func certificate(pkcs12 bytes: [UInt8], passphrase: String) throws(Fault) -> APNsCredential {
        do {
            return APNsCredential(kind: .certificate(try ClientIdentity(pkcs12: bytes, passphrase: passphrase)))
        } catch {
            throw Fault(description: "the bytes are no PKCS #12, or the passphrase is another one")
        }
    }
}

extension APNsCredential: CustomStringConvertible, CustomReflectable {
    public var description: String { "<redacted>" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
