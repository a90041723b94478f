import Crypto
import Foundation

/// Why a message of a session cannot be read or written. The session is of no use then.
package enum NoiseError: Error, Hashable, Sendable {
    /// The message is too short to be one.
    case truncated
    /// The message is not what its sender wrote, or from another sender, or came out of order.
    case notAuthentic
    /// A public key cannot be used.
    case unusableKey
    /// The session has carried as many messages as it may.
    case exhausted
}

/// How much one key may carry in one direction.
package struct NoiseLimit: Hashable, Sendable {
    /// How many messages.
    package var messages: UInt64
    /// How many bytes of them.
    package var bytes: UInt64

    /// Takes the numbers as they are.
    package init(messages: UInt64, bytes: UInt64) {
        self.messages = messages
        self.bytes = bytes
    }

    /// 2^24 messages and 2^30 bytes: the counter never comes near its end.
    package static let standard = NoiseLimit(messages: 1 << 24, bytes: 1 << 30)
}

/// The cipher of one direction: ChaCha20-Poly1305 with a counter (Noise, 5.1).
package struct NoiseCipher: Sendable {
    private var key: SymmetricKey
    /// How many messages it has carried.
    package private(set) var count: UInt64 = 0
    /// How many messages and bytes it has carried since its key was new.
    private var sinceNewKey: (messages: UInt64, bytes: UInt64) = (0, 0)

    init(key: SymmetricKey) { self.key = key }

    /// The bytes that the cipher adds to each message.
    package static let overhead = 16
    private static let nonceLength = 12

    /// Whether the key has carried as much as one may.
    package func isUsedUp(_ limit: NoiseLimit = .standard) -> Bool {
        sinceNewKey.messages >= limit.messages || sinceNewKey.bytes >= limit.bytes
    }

    /// Takes a new key that follows from this one (Noise, 11.3); the other side does so after the same message. The
    /// counter goes on.
    package mutating func rekey() throws(NoiseError) {
        var bytes = [UInt8](repeating: 0, count: 4)
        bytes += [UInt8](repeating: 0xff, count: 8)
        guard let nonce = try? ChaChaPoly.Nonce(data: bytes),
            let box = try? ChaChaPoly.seal([UInt8](repeating: 0, count: 32), using: key, nonce: nonce)
        else { throw .exhausted }
        key = SymmetricKey(data: box.ciphertext)
        sinceNewKey = (0, 0)
    }

    private mutating func carried(_ size: Int) {
        sinceNewKey.messages += 1
        sinceNewKey.bytes += UInt64(size)
    }

    private func nonce(_ count: UInt64) throws(NoiseError) -> [UInt8] {
        // The greatest counter is kept for rekeying.
        guard count < .max else { throw .exhausted }
        var bytes = [UInt8](repeating: 0, count: Self.nonceLength)
        for index in 0..<8 { bytes[4 + index] = UInt8(truncatingIfNeeded: count >> UInt64(8 * index)) }
        return bytes
    }

    /// Seals a message.
    ///
    /// - Parameter context: The associated data, known to both sides, to which the message is bound.
    package mutating func seal(_ message: [UInt8], context: [UInt8] = []) throws(NoiseError) -> [UInt8] {
        let bytes = try nonce(count)
        guard let nonce = try? ChaChaPoly.Nonce(data: bytes),
            let box = try? ChaChaPoly.seal(message, using: key, nonce: nonce, authenticating: context)
        else { throw .exhausted }
        count += 1
        carried(message.count)
        return Array(box.combined.dropFirst(Self.nonceLength))
    }

    /// The message that came next, or one after it where those between were lost. One that is not authentic, or came
    /// before, changes nothing.
    ///
    /// - Parameter place: The message's number; `nil` for the next.
    package mutating func open(
        _ sealed: ArraySlice<UInt8>, context: [UInt8] = [], at place: UInt64? = nil
    ) throws(NoiseError) -> [UInt8] {
        guard sealed.count >= Self.overhead else { throw .truncated }
        let place = place ?? count
        guard place >= count else { throw .notAuthentic }
        var combined = try nonce(place)
        combined.reserveCapacity(Self.nonceLength + sealed.count)
        combined += sealed
        guard let box = try? ChaChaPoly.SealedBox(combined: combined),
            let message = try? ChaChaPoly.open(box, using: key, authenticating: context)
        else { throw .notAuthentic }
        count = place + 1
        carried(message.count)
        return Array(message)
    }
}

/// The state that the messages of a handshake are mixed into (Noise, 5.2).
struct NoiseState {
    static let name = "Noise_IK_25519_ChaChaPoly_SHA256"

    private var chainingKey: [UInt8]
    private(set) var hash: [UInt8]
    private var cipher: NoiseCipher?

    init(prologue: [UInt8]) {
        // The name has 32 bytes, the hash's length: it is taken as it is.
        hash = Array(Self.name.utf8)
        chainingKey = hash
        mix(prologue)
    }

    /// Mixes bytes into the hash.
    mutating func mix(_ bytes: [UInt8]) { hash = Array(SHA256.hash(data: hash + bytes)) }

    /// Mixes the secret that two keys share into the chaining key.
    mutating func mix(
        _ own: Curve25519.KeyAgreement.PrivateKey, _ other: Curve25519.KeyAgreement.PublicKey
    ) throws(NoiseError) {
        guard let shared = try? own.sharedSecretFromKeyAgreement(with: other) else { throw .unusableKey }
        let secret = shared.withUnsafeBytes { Array($0) }
        // A key of small order gives the same secret with any other: an attacker with neither key knows it.
        guard secret.contains(where: { $0 != 0 }) else { throw .unusableKey }
        let (first, second) = Self.derive(chainingKey, secret)
        chainingKey = first
        cipher = NoiseCipher(key: SymmetricKey(data: second))
    }

    mutating func encrypt(_ bytes: [UInt8]) throws(NoiseError) -> [UInt8] {
        guard var cipher else {
            mix(bytes)
            return bytes
        }
        let sealed = try cipher.seal(bytes, context: hash)
        self.cipher = cipher
        mix(sealed)
        return sealed
    }

    mutating func decrypt(_ bytes: [UInt8]) throws(NoiseError) -> [UInt8] {
        guard var cipher else {
            mix(bytes)
            return bytes
        }
        let opened = try cipher.open(bytes[...], context: hash)
        self.cipher = cipher
        mix(bytes)
        return opened
    }

    /// The ciphers of the two directions, the initiator's first.
    func split() -> (initiator: NoiseCipher, responder: NoiseCipher) {
        let (first, second) = Self.derive(chainingKey, [])
        return (NoiseCipher(key: SymmetricKey(data: first)), NoiseCipher(key: SymmetricKey(data: second)))
    }

    /// HKDF with two outputs (Noise, 4.3).
    private static func derive(_ key: [UInt8], _ input: [UInt8]) -> ([UInt8], [UInt8]) {
        func authenticate(_ bytes: [UInt8], _ key: [UInt8]) -> [UInt8] {
            Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
        }
        let temporary = authenticate(input, key)
        let first = authenticate([1], temporary)
        return (first, authenticate(first + [2], temporary))
    }

    static func key(_ bytes: some Sequence<UInt8>) throws(NoiseError) -> Curve25519.KeyAgreement.PublicKey {
        guard let key = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: Array(bytes)) else {
            throw .unusableKey
        }
        return key
    }
}
