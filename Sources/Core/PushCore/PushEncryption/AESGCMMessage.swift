import Crypto

/// A message in the older coding `aesgcm` (draft-ietf-webpush-encryption-04), which clients of FCM's device channel
/// open.
///
/// Salt and the sender's public key travel beside the body, in the values of the headers `Encryption` and `Crypto-Key`.
package struct AESGCMMessage: Hashable, Sendable {
    /// 16 bytes, made at random for each message.
    package var salt: [UInt8]
    /// The public key that the sender made for this message alone: an uncompressed point of P-256.
    package var senderPoint: [UInt8]
    /// The records.
    package var body: [UInt8]

    /// The record size that readers assume where no header sets another: how much plaintext a record carries.
    static let recordSize = 4096
    /// The size of the padding's length, which precedes a record's content.
    static let paddingLength = 2

    /// Encrypts a content with a key and a salt that are made for it.
    ///
    /// - Throws: The error of the cryptographic library; never for a key that was checked.
    package static func encrypt(_ content: [UInt8], to recipient: RecipientPublicKey) throws -> AESGCMMessage {
        try encrypt(
            content, to: recipient, sender: P256.KeyAgreement.PrivateKey(),
            salt: SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) })
    }

    static func encrypt(
        _ content: [UInt8], to recipient: RecipientPublicKey, sender: P256.KeyAgreement.PrivateKey, salt: [UInt8]
    ) throws -> AESGCMMessage {
        let shared = try sender.sharedSecretFromKeyAgreement(
            with: P256.KeyAgreement.PublicKey(x963Representation: recipient.point))
        let point = Array(sender.publicKey.x963Representation)
        let keyingMaterial = shared.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: recipient.authenticationSecret,
            sharedInfo: Array("Content-Encoding: auth\0".utf8),
            outputByteCount: 32)
        let context = Array("P-256\0".utf8) + prefixed(recipient.point) + prefixed(point)
        func derived(_ purpose: String, _ count: Int) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: keyingMaterial, salt: salt,
                info: Array("Content-Encoding: \(purpose)\0".utf8) + context, outputByteCount: count)
        }
        let key = derived("aesgcm", 16)
        let nonce = derived("nonce", 12).withUnsafeBytes { Array($0) }
        var body: [UInt8] = []
        var rest = content[...]
        var sequence: UInt64 = 0
        // The last record is a short one, so that a reader knows that nothing is missing; it may be empty.
        while true {
            let record = rest.prefix(recordSize - paddingLength)
            rest = rest.dropFirst(record.count)
            var place = nonce
            for index in 0..<8 { place[11 - index] ^= UInt8(truncatingIfNeeded: sequence >> (8 * index)) }
            let box = try AES.GCM.seal(
                [UInt8](repeating: 0, count: paddingLength) + record, using: key, nonce: AES.GCM.Nonce(data: place))
            body += Array(box.ciphertext) + Array(box.tag)
            sequence += 1
            if record.count < recordSize - paddingLength { break }
        }
        return AESGCMMessage(salt: salt, senderPoint: point, body: body)
    }

    /// Bytes after their count, in two bytes.
    private static func prefixed(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(truncatingIfNeeded: bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)] + bytes
    }
}
