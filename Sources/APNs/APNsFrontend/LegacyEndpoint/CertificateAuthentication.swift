import APNsProtocol
import PushCore

/// The owner of a provider's certificate, and the topic that it sends to.
package struct CertificateOwner: Hashable, Sendable {
    /// The team that owns the certificate.
    package var team: TeamID
    /// The certificate's first topic: the old interface has no other.
    package var topic: Topic

    /// Creates an owner; nothing is checked.
    package init(team: TeamID, topic: Topic) {
        self.team = team
        self.topic = topic
    }
}

/// The verdict on a certificate at present.
package enum CertificateVerdict: Sendable {
    /// The certificate is valid.
    case owner(CertificateOwner)
    /// The certificate is refused for a reason; the owner where the register knows it.
    case refused(APNsRejection, CertificateOwner?)
}

/// The check of providers' certificates; the port of the endpoint.
///
/// The TLS handshake has proven that the peer has the private key; nothing else was checked.
package protocol CertificateAuthentication: Sendable {
    /// Checks a certificate in the environment that the endpoint serves. It is called for each push: the usual verdict
    /// comes from memory, and is that of the register's present version.
    ///
    /// - Parameter certificate: The bytes that the peer presented (DER).
    /// - Throws: An error when the register cannot be read.
    func verdict(on certificate: [UInt8], in environment: PushEnvironment) async throws -> CertificateVerdict
}
