import Crypto
import Foundation
import RelayProtocol

/// The pairing of two devices, which the user confirms by comparing six digits on both screens. A value.
///
/// One device commits to its key and nonce, the other sends its own, then the first reveals. A man in the middle has
/// one attempt, and a chance of one in a million that the digits are the same. The account's key is sent only after the
/// user has confirmed the digits on both devices.
package struct RelayPairing: Sendable {
    /// The first byte of what devices say to be paired, which no sealed message begins with.
    package static let mark: UInt8 = 0x50
    private static let name = "aldaba relay pair 1"
    private static let agreement = Array("\(name) agree".utf8)

    /// The next step of a pairing, for the caller to carry out.
    package enum Step: Hashable, Sendable {
        /// Say this to the other device.
        case say([UInt8])
        /// Show the person these six digits, and ask whether the other screen shows the same.
        case compare(digits: String)
        /// The user has confirmed the digits on both devices: join the account of this key.
        case join(AccountKey)
        /// The account's key was sent to the other device.
        case given
        /// The pairing ends here; why, in words.
        case failed(String)
    }

    private enum Kind: UInt8 {
        case commit = 1
        case answer, reveal, account, refuse, agree
    }

    private let key: Curve25519.KeyAgreement.PrivateKey
    private let nonce: [UInt8]
    private let place: [UInt8]
    /// The account that is given; `nil` on the device that takes it.
    private let account: AccountKey?
    private var commitment: [UInt8]?
    private var other: (key: [UInt8], nonce: [UInt8])?
    private var isConfirmed = false
    /// Whether the user has confirmed the digits on the other device.
    private var isConfirmedThere = false
    private var isOver = false

    /// Begins one side of a pairing at a rendezvous.
    ///
    /// - Parameter account: The account key to be sent to the other device; `nil` to receive the other's.
    package init(place: [UInt8], account: AccountKey?) {
        self.init(
            place: place, account: account, key: Curve25519.KeyAgreement.PrivateKey(),
            nonce: SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) })
    }

    init(place: [UInt8], account: AccountKey?, key: Curve25519.KeyAgreement.PrivateKey, nonce: [UInt8]) {
        self.place = place
        self.account = account
        self.key = key
        self.nonce = nonce
    }

    /// The rendezvous id of two devices that were given the same pairing code.
    package static func place(of word: String) -> [UInt8] {
        Array(SHA256.hash(data: Array("\(name) \(word.lowercased())".utf8)))
    }

    private static let letters = Array("abcdefghjkmnpqrstuvwxyz23456789")
    private static let wordLength = 8

    /// A new pairing code, which is easy to type; it is no secret.
    package static func newWord() -> String {
        String((0..<wordLength).map { _ in letters[Int.random(in: 0..<letters.count)] })
    }

    /// Whether a text may be a pairing code, in letters of either case.
    package static func isWord(_ text: String) -> Bool {
        text.count == wordLength && text.lowercased().allSatisfy(letters.contains)
    }

    private var ownKey: [UInt8] { Array(key.publicKey.rawRepresentation) }

    /// The two have met. The one that has the account begins.
    package mutating func peerJoined() -> [Step] {
        guard account != nil else { return [] }
        return [.say([Kind.commit.rawValue] + Self.commitment(ownKey, nonce))]
    }

    private static func commitment(_ key: [UInt8], _ nonce: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(data: Array(name.utf8) + key + nonce))
    }

    /// Handles a message of the other device.
    package mutating func receive(_ message: [UInt8]) -> [Step] {
        guard !isOver, let kind = message.first.flatMap(Kind.init) else { return [] }
        let rest = Array(message.dropFirst())
        switch (kind, account == nil) {
        case (.commit, true) where commitment == nil && rest.count == 32:
            commitment = rest
            return [.say([Kind.answer.rawValue] + ownKey + nonce)]
        case (.answer, false) where other == nil && rest.count == 48:
            other = (Array(rest[..<32]), Array(rest[32...]))
            return [.say([Kind.reveal.rawValue] + ownKey + nonce)] + compare()
        case (.reveal, true) where other == nil && rest.count == 48:
            let said = (key: Array(rest[..<32]), nonce: Array(rest[32...]))
            guard let commitment, commitment == Self.commitment(said.key, said.nonce) else {
                return fail("the other device did not keep to what it had committed to; somebody may stand between")
            }
            other = said
            return compare()
        case (.agree, false) where other != nil && !isConfirmedThere:
            guard let sealing = sealingKey(), let box = try? ChaChaPoly.SealedBox(combined: rest),
                (try? ChaChaPoly.open(box, using: sealing, authenticating: Self.agreement)) != nil
            else { return fail("what came is not sealed for this device; somebody may stand between") }
            isConfirmedThere = true
            return giveAccount()
        case (.account, true) where isConfirmed: return takeAccount(rest)
        case (.refuse, _):
            isOver = true
            return [.failed("the other device said no")]
        default: return fail("the other device said something that does not belong here")
        }
    }

    /// The user's answer to the comparison of the digits.
    package mutating func answered(areSame: Bool) -> [Step] {
        guard !isOver, other != nil else { return [] }
        guard areSame else {
            isOver = true
            return [.say([Kind.refuse.rawValue]), .failed("the digits were not the same: nothing was given")]
        }
        guard !isConfirmed else { return [] }
        isConfirmed = true
        guard account == nil else { return giveAccount() }
        guard let sealing = sealingKey(),
            let box = try? ChaChaPoly.seal([UInt8](), using: sealing, authenticating: Self.agreement)
        else { return fail("the keys do not fit") }
        return [.say([Kind.agree.rawValue] + box.combined)]
    }

    private mutating func giveAccount() -> [Step] {
        guard isConfirmed, isConfirmedThere, let account else { return [] }
        guard let sealing = sealingKey(), let box = try? ChaChaPoly.seal(Array(account.text.utf8), using: sealing)
        else { return fail("the keys do not fit") }
        isOver = true
        return [.say([Kind.account.rawValue] + box.combined), .given]
    }

    private mutating func takeAccount(_ sealedAccount: [UInt8]) -> [Step] {
        guard let sealing = sealingKey(), let box = try? ChaChaPoly.SealedBox(combined: sealedAccount),
            let text = try? ChaChaPoly.open(box, using: sealing),
            let account = AccountKey(text: String(decoding: text, as: UTF8.self))
        else { return fail("what came is not sealed for this device; somebody may stand between") }
        isOver = true
        return [.join(account)]
    }

    private mutating func fail(_ why: String) -> [Step] {
        isOver = true
        return [.say([Kind.refuse.rawValue]), .failed(why)]
    }

    // MARK: Digits

    /// The concatenated keys and nonces of both devices, the account holder's first; `nil` before the other's are
    /// known.
    private var transcript: [UInt8]? {
        guard let other else { return nil }
        let own = ownKey + nonce
        let others = other.key + other.nonce
        return place + (account == nil ? others + own : own + others)
    }

    private func compare() -> [Step] {
        guard let transcript else { return [] }
        let hash = Array(SHA256.hash(data: Array("\(Self.name) digits".utf8) + transcript))
        let number = hash[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 1_000_000
        let text = String(number)
        return [.compare(digits: String(repeating: "0", count: 6 - text.count) + text)]
    }

    private func sealingKey() -> SymmetricKey? {
        guard let other, let transcript,
            let remote = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: other.key),
            let shared = try? key.sharedSecretFromKeyAgreement(with: remote)
        else { return nil }
        return shared.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: transcript, sharedInfo: Array("\(Self.name) account".utf8), outputByteCount: 32)
    }
}
