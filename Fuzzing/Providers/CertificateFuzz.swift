import APNsProtocol
import Foundation
import PushCore

/// Certificates of providers and authorities, as peers show them; one that can be read must also be judged without a trap.
enum CertificateFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let bytes = Array(input)
        let authority = try? CertificateAuthority(der: bytes)
        _ = authority?.isValid(at: Timestamp(seconds: 1_780_000_000))
        guard let certificate = try? ProviderCertificate(der: bytes) else { return }
        _ = certificate.refusal(at: Timestamp(seconds: 1_780_000_000))
        if let authority { _ = certificate.isSigned(by: authority) }
    }
}
