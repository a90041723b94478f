import APNsProtocol
import Crypto
import Foundation
import PushCore

/// Provider tokens, from the header's value on; one that parses must also be judged without a trap.
enum ProviderTokenFuzz: FuzzTest {
    private static let key = P256.Signing.PrivateKey()

    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let bytes = Array(input)
        for candidate in [bytes, Array("bearer ".utf8) + bytes] {
            guard let token = try? ProviderToken(authorization: candidate) else { continue }
            _ = token.isSigned(by: ProviderTokenFuzz.key.publicKey)
            _ = token.refusal(at: Timestamp(seconds: 1_780_000_000))
        }
    }
}
