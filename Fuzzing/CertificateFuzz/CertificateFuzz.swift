import APNsProtocol
import Foundation
import FuzzDriver
import PushCore

/// Certificates of providers and authorities, as peers show them; one that can be read must also be judged without a trap.
@main
enum CertificateFuzz {
    static func main() {
        exit(
            FuzzDriver.run { data, count in
                let bytes = Array(UnsafeBufferPointer(start: data, count: count))
                let authority = try? CertificateAuthority(der: bytes)
                _ = authority?.isValid(at: Timestamp(seconds: 1_780_000_000))
                guard let certificate = try? ProviderCertificate(der: bytes) else { return 0 }
                _ = certificate.refusal(at: Timestamp(seconds: 1_780_000_000))
                if let authority { _ = certificate.isSigned(by: authority) }
                return 0
            })
    }
}
