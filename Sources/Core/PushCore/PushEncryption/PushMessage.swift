import Crypto

/// A message that is encrypted to one key: Web Push message encryption (RFC 8291).
///
/// One record of `aes128gcm`; the header's key id is the public key that the sender made for this message alone.
package struct PushMessage: Sendable {
    /// How many bytes a message takes beside its content: the header with the sender's key, a delimiter and a tag.
    package static let overhead = AES128GCMMessage.fixedHeaderLength + 65 + 1 + AES128GCMMessage.tagLength

    private let message: AES128GCMMessage
    private let sender: P256.KeyAgreement.PublicKey

    /// Reads a message's header.
    package init(_ body: [UInt8]) throws(DecryptionError) {
        message = try AES128GCMMessage(body)
        guard let sender = try? P256.KeyAgreement.PublicKey(x963Representation: message.keyID) else { throw .senderKey }
        self.sender = sender
        guard message.records.count > AES128GCMMessage.tagLength else { throw .truncated }
        guard message.recordSize >= AES128GCMMessage.smallestRecordSize, message.records.count <= message.recordSize
        else { throw .recordSize(declared: message.recordSize, carried: message.records.count) }
    }

    /// A hash that identifies this message, of its salt and its sender's key; 32 bytes.
    package var fingerprint: [UInt8] { Array(SHA256.hash(data: message.salt + message.keyID)) }

    /// Opens the message.
    package func open(with key: RecipientPrivateKey) throws(DecryptionError) -> [UInt8] {
        let shared: SharedSecret
        do { shared = try key.agree(with: sender) } catch { throw .senderKey }
        return try message.open(Self.keyingMaterial(shared, recipient: key.publicKey, sender: message.keyID))
    }

    /// Encrypts a content with a key and a salt that are made for it.
    ///
    /// - Parameter padding: How many zeros hide the content's length.
    /// - Throws: The error of the cryptographic library; never for a key that was checked.
    package static func encrypt(
        _ content: [UInt8], to recipient: RecipientPublicKey, padding: Int = 0
    ) throws -> [UInt8] {
        try encrypt(
            content, to: recipient, padding: padding, sender: P256.KeyAgreement.PrivateKey(),
            salt: SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) })
    }

    static func encrypt(
        _ content: [UInt8], to recipient: RecipientPublicKey, padding: Int, sender: P256.KeyAgreement.PrivateKey,
        salt: [UInt8]
    ) throws -> [UInt8] {
        let shared = try sender.sharedSecretFromKeyAgreement(
            with: P256.KeyAgreement.PublicKey(x963Representation: recipient.point))
        let point = Array(sender.publicKey.x963Representation)
        let record = content.count + padding + 1 + AES128GCMMessage.tagLength
        return try AES128GCMMessage.seal(
            content, with: keyingMaterial(shared, recipient: recipient, sender: point), salt: salt,
            recordSize: UInt32(clamping: max(4096, record + 1)), keyID: point, padding: padding)
    }

    /// RFC 8291, section 3.4.
    private static func keyingMaterial(
        _ shared: SharedSecret, recipient: RecipientPublicKey, sender: [UInt8]
    ) -> SymmetricKey {
        shared.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: recipient.authenticationSecret,
            sharedInfo: Array("WebPush: info\0".utf8) + recipient.point + sender, outputByteCount: 32)
    }
}
