import Crypto

/// The data that a sender needs to encrypt for one app on one device: a public key of P-256 and the authentication
/// secret (RFC 8291, section 2 and 3.2).
package struct RecipientPublicKey: Hashable, Sendable {
    /// The uncompressed point, 65 bytes (SEC 1, section 2.3.3).
    package let point: [UInt8]
    /// 16 bytes that the app's senders share with the device.
    @Secret package var authenticationSecret: [UInt8]

    static let authenticationSecretLength = 16

    /// Takes bytes from outside.
    ///
    /// - Throws: ``RecipientKeyError``, which names the field that is wrong.
    package init(point: [UInt8], authenticationSecret: [UInt8]) throws(RecipientKeyError) {
        guard point.count == 65, (try? P256.KeyAgreement.PublicKey(x963Representation: point)) != nil else {
            throw .point
        }
        guard authenticationSecret.count == Self.authenticationSecretLength else { throw .authenticationSecret }
        self.point = point
        self.authenticationSecret = authenticationSecret
    }

    /// Reads both as base64url text, as a Web Push subscription has them.
    package init(p256dh: String, auth: String) throws(RecipientKeyError) {
        guard let point = Base64URL.decode(p256dh.utf8) else { throw .point }
        guard let secret = Base64URL.decode(auth.utf8) else { throw .authenticationSecret }
        try self.init(point: point, authenticationSecret: secret)
    }

    /// The point as base64url text, 87 characters.
    package var p256dh: String { Base64URL.encode(point) }

    /// The authentication secret as base64url text, 22 characters.
    package var auth: String { Base64URL.encode(authenticationSecret) }

    /// The id of the key for people and messages: the first 8 bytes of the point's SHA-256, as 11 characters of
    /// base64url.
    package var id: String { Base64URL.encode(Array(SHA256.hash(data: point).prefix(8))) }
}

/// A fault in a recipient's key.
package enum RecipientKeyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// `p256dh` is no uncompressed point of P-256.
    case point
    /// `auth` is not 16 bytes long.
    case authenticationSecret

    package var description: String {
        switch self {
        case .point: "p256dh must be an uncompressed point of P-256: 65 bytes, base64url"
        case .authenticationSecret: "auth must be 16 bytes, base64url"
        }
    }
}

/// The private half, which never leaves the device.
package struct RecipientPrivateKey: Sendable {
    private let key: P256.KeyAgreement.PrivateKey
    /// The public key, which is given to senders.
    package let publicKey: RecipientPublicKey

    /// Makes a key and an authentication secret at random.
    package init() {
        let secret = SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }
        self.init(P256.KeyAgreement.PrivateKey(), secret)
    }

    /// Reads what ``rawRepresentation`` and ``RecipientPublicKey/authenticationSecret`` gave; `nil` for anything else.
    package init?(rawRepresentation: [UInt8], authenticationSecret: [UInt8]) {
        guard authenticationSecret.count == RecipientPublicKey.authenticationSecretLength,
            let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: rawRepresentation)
        else { return nil }
        self.init(key, authenticationSecret)
    }

    private init(_ key: P256.KeyAgreement.PrivateKey, _ secret: [UInt8]) {
        self.key = key
        // The point of a private key and a secret of 16 bytes have the right shape.
        publicKey = RecipientPublicKey(trusted: Array(key.publicKey.x963Representation), secret)
    }

    /// The secret number, 32 bytes; for a file that only its owner can read.
    package var rawRepresentation: Secret<[UInt8]> { Secret(Array(key.rawRepresentation)) }

    /// The point that this key and another's public key agree on.
    func agree(with other: P256.KeyAgreement.PublicKey) throws -> SharedSecret {
        try key.sharedSecretFromKeyAgreement(with: other)
    }
}

extension RecipientPublicKey {
    fileprivate init(trusted point: [UInt8], _ secret: [UInt8]) {
        self.point = point
        authenticationSecret = secret
    }
}
