import Foundation
import PushCore

/// Encrypted payloads: none may trap its reading, with a key that fits or without; and what was sealed is what is opened.
enum EncryptionFuzz: FuzzTest {
    /// The key of RFC 8291, appendix A, so that its message is a seed.
    private static let key = RecipientPrivateKey(
        rawRepresentation: bytes("q1dXpw3UpT5VOmu/cf/v6ih07Aems3njxI+JWgLcM94="),
        authenticationSecret: bytes("BTBZMqHH6r4Tts7J/aSIgg=="))

    private static func bytes(_ base64: String) -> [UInt8] { Array(Data(base64Encoded: base64) ?? Data()) }

    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        guard let key = EncryptionFuzz.key else { fatalError("the standard's key is none") }
        let input = Array(input)
        if let message = try? PushMessage(input) { _ = try? message.open(with: key) }
        if let payload = try? EncryptedPayload(payload: input) { _ = try? payload.open(with: [key]) }
        let sealed = try? PushMessage.encrypt(input, to: key.publicKey, padding: input.count % 64)
        let opened = sealed.flatMap { try? PushMessage($0).open(with: key) }
        precondition(opened == input, "what was sealed was not opened")
        let parts = String(decoding: input, as: UTF8.self).split(separator: " ", maxSplits: 1)
        if parts.count == 2 { _ = try? RecipientPublicKey(p256dh: String(parts[0]), auth: String(parts[1])) }
    }
}
