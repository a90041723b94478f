import APNsWire
import PushModel

/// Whose a provider's certificate is, and what it sends to.
public struct CertificateOwner: Hashable, Sendable {
    /// The team that owns the certificate.
    public var team: TeamID
    /// The certificate's first topic: the old interface has no other.
    public var topic: Topic

    /// Names the owner; nothing is checked.
    public init(team: TeamID, topic: Topic) {
        self.team = team
        self.topic = topic
    }
}

/// What a certificate is worth now.
public enum CertificateVerdict: Sendable {
    /// It counts.
    case owner(CertificateOwner)
    /// It does not, and why; the owner where the register knows it.
    case refused(APNsRefusal, CertificateOwner?)
}

/// The port by which the endpoint judges the certificates that providers show.
///
/// The TLS handshake has proven that the peer has the private key; nothing else was looked at.
public protocol CertificateAuthentication: Sendable {
    /// Judges a certificate in the environment that the endpoint serves. It is asked for each push: the usual answer
    /// comes from memory, and is that of the register's present version.
    ///
    /// - Parameter certificate: The bytes as the peer showed them (DER).
    /// - Throws: when the register cannot be read.
    func verdict(on certificate: [UInt8], in environment: PushEnvironment) async throws -> CertificateVerdict
}
