import APNsProtocol
import PushCore
import PushServer
import Synchronization

/// The register's certificates for the old binary interface. Thread-safe.
///
/// Verdicts are cached by certificate: a signature is checked once for each version of the register.
package final class RegisteredCertificates: CertificateAuthentication {
    private let directory: CertificateDirectory
    private let memories = Mutex<[[UInt8]: CertificateDirectory.Memory]>([:])
    /// The maximum number of cached certificates; there are as many as apps that send by the old interface.
    private static let limit = 1024

    /// Creates the checks over a directory.
    package init(_ directory: CertificateDirectory) { self.directory = directory }

    /// Checks a certificate, from memory while the register is unchanged.
    package func verdict(on certificate: [UInt8], in environment: PushEnvironment) async throws -> CertificateVerdict {
        let known = memories.withLock { memories in
            if memories.count >= Self.limit, memories[certificate] == nil { memories = [:] }
            return directory.known(&memories[certificate, default: .init(der: certificate)], in: environment)
        }
        if let verdict = Self.verdict(known) { return verdict }
        return Self.verdict(try await directory.find(certificate, in: environment))
            ?? .refused(APNsRejection(.serviceUnavailable, note: "the register changes all the time"), nil)
    }

    /// - Returns: `nil` when the register must be read first.
    private static func verdict(_ verdict: CertificateDirectory.CachedVerdict) -> CertificateVerdict? {
        switch verdict {
        case .needsLookUp: nil
        case .refused(let refusal, let key):
            // The topic of a refused certificate is left out: its timeline belongs to the team.
            .refused(refusal, key.map { CertificateOwner(team: $0.team, topic: Topic(rawValue: "")) })
        case .credential(let credential):
            .owner(
                CertificateOwner(
                    team: credential.team,
                    topic: credential.certificate.topics.first?.topic ?? credential.certificate.bundleID))
        }
    }
}
