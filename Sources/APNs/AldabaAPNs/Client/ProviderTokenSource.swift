import APNsProtocol
import Crypto
import PushCore

/// The provider token of a key, which all connections of a client share. A value: the time is an argument.
struct ProviderTokenSource: Sendable {
    /// A token, and the number by which it is told from others.
    struct Token: Sendable {
        /// The value of the field `authorization`.
        @Secret var authorization: String
        let generation: Int
        let issuedAt: Timestamp
        let renewAt: Timestamp
    }

    private let key: P256.Signing.PrivateKey
    private let keyID: KeyID
    private let team: TeamID
    private var current: Token?
    private var generation = 0

    /// Creates a source without a token.
    init(key: P256.Signing.PrivateKey, keyID: KeyID, team: TeamID) {
        self.key = key
        self.keyID = keyID
        self.team = team
    }

    /// The current token, or another one 45 to 50 minutes after that. Clients that started together do not renew together.
    ///
    /// - Throws: The error of the cryptographic library.
    mutating func token(at now: Timestamp, using random: inout some RandomNumberGenerator) throws -> Token {
        // A clock that was set back would make tokens of the future.
        if let current, now >= current.issuedAt, now < current.renewAt { return current }
        generation += 1
        let text = try ProviderToken.make(key: key, keyID: keyID, team: team, issuedAt: now)
        let token = Token(
            authorization: "bearer \(text)", generation: generation, issuedAt: now,
            renewAt: now.adding(milliseconds: .random(in: 2_700_000...3_000_000, using: &random)))
        current = token
        return token
    }

    /// Drops the token of a generation, unless another one has replaced it.
    ///
    /// - Returns: Whether it was dropped.
    @discardableResult mutating func discard(generation: Int) -> Bool {
        guard current?.generation == generation else { return false }
        current = nil
        return true
    }
}
