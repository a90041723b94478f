import Crypto
import CryptoExtras
import Foundation
import PushCore

/// The hash of a password: scrypt (RFC 7914) with its parameters and its salt.
package struct PasswordHash: Hashable, Sendable {
    /// The cost of a hash.
    package struct Cost: Hashable, Sendable {
        /// `N`, a power of two.
        package var rounds: Int
        /// `r`.
        package var blockSize: Int
        /// `p`.
        package var parallelism: Int

        /// A cost by its parameters.
        package init(rounds: Int, blockSize: Int, parallelism: Int) {
            self.rounds = rounds
            self.blockSize = blockSize
            self.parallelism = parallelism
        }

        /// The cost of new hashes: 16 MiB, as OWASP's Password Storage Cheat Sheet has it.
        package static let standard = Cost(rounds: 1 << 14, blockSize: 8, parallelism: 5)

        /// Whether a hash of this cost can be computed here; a stored text might say anything.
        fileprivate var isBounded: Bool {
            rounds.nonzeroBitCount == 1 && (2...1 << 20).contains(rounds) && (1...32).contains(blockSize)
                && (1...16).contains(parallelism) && rounds * blockSize <= 1 << 23
        }
    }

    private static let length = 32
    private let cost: Cost
    private let salt: [UInt8]
    private let hash: [UInt8]

    /// Hashes a password with a new salt. It takes a fraction of a second.
    package init(of password: String, cost: Cost = .standard) throws {
        let salt = Array(SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) })
        try self.init(password, salt: salt, cost: cost)
    }

    private init(_ password: String, salt: [UInt8], cost: Cost) throws {
        // Two spellings of one password, composed and decomposed, are the same (RFC 8265, section 4.2).
        let text = password.precomposedStringWithCanonicalMapping
        let key = try KDF.Scrypt.deriveKey(
            from: Array(text.utf8), salt: salt, outputByteCount: Self.length, rounds: cost.rounds,
            blockSize: cost.blockSize, parallelism: cost.parallelism)
        self.cost = cost
        self.salt = salt
        hash = key.withUnsafeBytes { Array($0) }
    }

    private init(salt: [UInt8], hash: [UInt8], cost: Cost) {
        self.cost = cost
        self.salt = salt
        self.hash = hash
    }

    /// A hash that is of no known password.
    static func unknown(cost: Cost) -> PasswordHash {
        func random() -> [UInt8] { SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) } }
        return PasswordHash(salt: Array(random().prefix(16)), hash: random(), cost: cost)
    }

    /// Reads the stored form; `nil` for any other text.
    package init?(text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 6, parts[0] == "scrypt", let rounds = Int(parts[1]), let blockSize = Int(parts[2]),
            let parallelism = Int(parts[3]), let salt = Base64URL.decode(parts[4].utf8),
            let hash = Base64URL.decode(parts[5].utf8), hash.count == Self.length
        else { return nil }
        cost = Cost(rounds: rounds, blockSize: blockSize, parallelism: parallelism)
        guard cost.isBounded else { return nil }
        self.salt = salt
        self.hash = hash
    }

    /// The stored form, `scrypt$N$r$p$SALT$HASH`.
    package var text: String {
        "scrypt$\(cost.rounds)$\(cost.blockSize)$\(cost.parallelism)$\(Base64URL.encode(salt))$\(Base64URL.encode(hash))"
    }

    /// Whether a password is the one that was hashed. It takes as long as hashing.
    package func matches(_ password: String) -> Bool {
        guard let other = try? PasswordHash(password, salt: salt, cost: cost) else { return false }
        return ConstantTime.equal(hash, other.hash)
    }

    /// The fault of a new password, in a sentence; `nil` for one that is long enough (NIST SP 800-63B, section 3.1.1.2).
    package static func fault(in password: String) -> PasswordFault? {
        if password.unicodeScalars.count < PasswordFault.shortest { return .short }
        return password.utf8.count > PasswordFault.longest ? .long : nil
    }
}

/// The fault of a new password.
package enum PasswordFault: String, Sendable {
    /// The password has too few characters.
    case short
    /// The password has too many bytes.
    case long

    /// The lowest number of characters.
    package static let shortest = 12
    /// The highest number of bytes.
    package static let longest = 1024
}
