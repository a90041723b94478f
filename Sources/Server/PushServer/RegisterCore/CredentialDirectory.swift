import APNsProtocol
import Crypto
import Foundation
import PushCore
import Synchronization

/// Cached verdicts on provider tokens: an ES256 check costs ten times a request, so each token is checked once.
///
/// Thread-safe. A verdict is cached under the whole header value; its age is checked every time.
package final class CredentialDirectory: Sendable {
    /// A provider token that was found genuine.
    package struct Credential: Hashable, Sendable {
        /// The team whose key signed the token.
        package var team: TeamID
        /// The id of that provider key: ten characters `A-Z0-9`.
        package var keyID: KeyID
        /// The time at which the provider made the token: its `iat` claim (RFC 7519, 4.1.6).
        package var issuedAt: Timestamp

        /// The refusal of a token that is older than an hour; `nil` while it is not.
        package func refusal(at now: Timestamp) -> APNsRejection? {
            now.duration(since: issuedAt) > ProviderToken.lifetime
                ? APNsRejection(.expiredProviderToken, note: "the provider token is older than one hour") : nil
        }
    }

    /// A key or a certificate of the register, by its team and id.
    package struct KnownKey: Hashable, Sendable {
        /// The team that owns it.
        package var team: TeamID
        /// The key's id: ten characters `A-Z0-9`.
        package var keyID: KeyID

        /// Creates a reference to a key; whether the register has it is not checked.
        package init(team: TeamID, keyID: KeyID) {
            self.team = team
            self.keyID = keyID
        }
    }

    /// The cached verdict on a header value.
    package enum CachedVerdict: Sendable {
        /// Genuine, and not older than an hour.
        case credential(Credential)
        /// Refused, with the reason; `key` is the key that the token specifies, `nil` where the register has no such
        /// key.
        case refused(APNsRejection, key: KnownKey? = nil)
        /// The register has changed: call ``find(_:)``.
        case needsLookUp
    }

    private struct State {
        /// The keys as they were read from the store.
        var stored: [ProviderKey] = []
        var keys: [KeyID: (team: TeamID, key: P256.Signing.PublicKey)] = [:]
        /// The register's version when the keys were read; `nil` before the first time.
        var version: UInt64?
        var verdicts = GenerationCache<[UInt8], Credential>(capacity: 2048)
    }

    private let store: any RegisterStore
    private let clock: @Sendable () -> Timestamp
    /// Whether a token of an unknown key is accepted, its signature unchecked: for tests.
    private let acceptsUnknownKeys: Bool
    /// The server's time at a time of the senders' clocks.
    private let senderTime: @Sendable (Timestamp) -> Timestamp
    private let state = Mutex(State())
    /// The number of readings that changed the keys: a connection's cache is valid for one such number.
    private let edition = Atomic<UInt64>(0)
    private let reading: CoalescedLoad

    /// Creates a directory that has read no key yet.
    ///
    /// - Parameters:
    ///   - acceptsUnknownKeys: Whether a token of an unknown key is accepted, its signature unchecked: for tests.
    ///   - senderTime: The server's time at a time of the senders' clocks, for a server whose clock is ahead.
    ///   - clock: The clock by which tokens age.
    package init(
        store: any RegisterStore, acceptsUnknownKeys: Bool = false,
        senderTime: @escaping @Sendable (Timestamp) -> Timestamp = { $0 },
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.acceptsUnknownKeys = acceptsUnknownKeys
        self.senderTime = senderTime
        self.clock = clock
        reading = CoalescedLoad(clock: clock)
    }

    /// The cache of one connection, so that most requests need no look-up.
    package struct Memory: Sendable {
        fileprivate var authorization: ArraySlice<UInt8> = []
        fileprivate var credential: Credential?
        fileprivate var version: UInt64 = 0
        fileprivate var edition: UInt64 = 0
        /// The number of tokens of known keys whose signature was checked and is wrong.
        fileprivate var forgeries = 0
        /// The time at which a valid token replaced an earlier one of the same key.
        fileprivate var changedAt: Timestamp?

        /// Whether the first token may be replaced no sooner than the later ones.
        private let countsFirstToken: Bool

        /// Creates the cache of a connection that has made no request yet.
        ///
        /// - Parameter countsFirstToken: Whether the first token may be replaced only after 20 minutes, as at Apple's.
        package init(countsFirstToken: Bool = false) { self.countsFirstToken = countsFirstToken }

        fileprivate mutating func handleFirstToken(at now: Timestamp) { if countsFirstToken { changedAt = now } }
    }

    /// The number of wrong signatures of a connection beyond which further tokens are refused without a check: each
    /// costs as much as ten requests.
    static let forgeryLimit = 16

    /// Checks an `authorization` header like ``known(_:)``. The connection's cache is used if the header is the
    /// previous one, and neither the register's version nor the keys have changed since.
    package func known(_ authorization: ArraySlice<UInt8>?, _ memory: inout Memory) -> CachedVerdict {
        let (version, edition) = (store.registerVersion, edition.load(ordering: .acquiring))
        if let authorization, let credential = memory.credential, memory.version == version, memory.edition == edition,
            authorization.elementsEqualFast(memory.authorization)
        {
            return Self.cachedVerdict(credential, at: clock())
        }
        guard memory.forgeries < Self.forgeryLimit else {
            return .refused(
                APNsRejection(
                    .tooManyProviderTokenUpdates, note: "the connection has shown too many wrong signatures"))
        }
        let cachedVerdict = known(authorization)
        switch cachedVerdict {
        case .credential(let credential):
            guard let authorization else { break }
            if let refusal = Self.refusalOfChange(to: credential, at: clock(), &memory) {
                return .refused(refusal, key: KnownKey(team: credential.team, keyID: credential.keyID))
            }
            if memory.credential == nil { memory.handleFirstToken(at: clock()) }
            memory.authorization = ArraySlice(Array(authorization))
            memory.credential = credential
            (memory.version, memory.edition) = (version, edition)
        case .refused(let refusal, key: .some) where refusal.reason == .invalidProviderToken: memory.forgeries += 1
        case .refused, .needsLookUp: break
        }
        return cachedVerdict
    }

    /// The time in which a connection may replace its token once. Apple, "Establishing a token-based connection to APNs":
    /// a new token more than once every 20 minutes is an error.
    static let changeInterval = Duration.seconds(20 * 60)

    private static func refusalOfChange(
        to credential: Credential, at now: Timestamp, _ memory: inout Memory
    ) -> APNsRejection? {
        guard let known = memory.credential, known.keyID == credential.keyID, known.team == credential.team,
            known.issuedAt != credential.issuedAt
        else { return nil }
        if let last = memory.changedAt, now.duration(since: last) < changeInterval {
            return APNsRejection(
                .tooManyProviderTokenUpdates,
                note: "the connection has changed its provider token less than 20 minutes ago")
        }
        memory.changedAt = now
        return nil
    }

    /// Reads every provider key again; one that is not a P-256 public key is ignored. Earlier verdicts are discarded.
    package func reload() async throws {
        let version = store.registerVersion
        var keys: [KeyID: (team: TeamID, key: P256.Signing.PublicKey)] = [:]
        let stored = try await store.providerKeys()
        for each in stored {
            guard let key = try? P256.Signing.PublicKey(pemRepresentation: each.publicKeyPEM) else { continue }
            keys[each.keyID] = (each.team, key)
        }
        let read = keys
        let hasOthers = state.withLock { state in
            let hasOthers = state.stored != stored
            state = State(stored: stored, keys: read, version: version)
            return hasOthers
        }
        if hasOthers { edition.add(1, ordering: .releasing) }
    }

    /// Reads nothing when a reading that ended just before brought the present version.
    private func reloadIfChanged() async throws {
        guard state.withLock({ $0.version }) != store.registerVersion else { return }
        try await reload()
    }

    /// Checks an `authorization` header from memory, including the signature if its key is known.
    ///
    /// Every verdict is that of the register's present version: when that has changed, the keys must be read first. A
    /// revoked key is thus refused, and a new one accepted, at the next request.
    package func known(_ authorization: ArraySlice<UInt8>?) -> CachedVerdict {
        let version = store.registerVersion
        return judge(authorization) { $0 == version }
    }

    /// - Parameter isCurrent: Whether keys that were read at a version of the register may be used.
    private func judge(_ authorization: ArraySlice<UInt8>?, isCurrent: (UInt64?) -> Bool) -> CachedVerdict {
        guard let authorization, !authorization.isEmpty else {
            return .refused(APNsRejection(.missingProviderToken, note: "there is no authorization header"))
        }
        let now = clock()
        let bytes = Array(authorization)
        let (isCurrent, verdict) = state.withLock { state in
            isCurrent(state.version) ? (true, state.verdicts.value(bytes)) : (false, nil)
        }
        if let verdict { return Self.cachedVerdict(verdict, at: now) }
        do throws(APNsRejection) {
            var token = try ProviderToken(authorization: authorization)
            token.issuedAt = senderTime(token.issuedAt)
            guard isCurrent else { return .needsLookUp }
            guard let entry = state.withLock({ $0.keys[token.keyID] }) else {
                if acceptsUnknownKeys {
                    if let refusal = token.refusal(at: now) { throw refusal }
                    return .credential(Credential(team: token.team, keyID: token.keyID, issuedAt: token.issuedAt))
                }
                return .refused(APNsRejection(.invalidProviderToken, note: "there is no key \(token.keyID)"))
            }
            do throws(APNsRejection) {
                return .credential(try credential(token, bytes: bytes, team: entry.team, key: entry.key, at: now))
            } catch {
                return .refused(error, key: KnownKey(team: entry.team, keyID: token.keyID))
            }
        } catch {
            return .refused(error)
        }
    }

    private static func cachedVerdict(_ credential: Credential, at now: Timestamp) -> CachedVerdict {
        guard let refusal = credential.refusal(at: now) else { return .credential(credential) }
        return .refused(refusal, key: KnownKey(team: credential.team, keyID: credential.keyID))
    }

    private func credential(
        _ token: ProviderToken, bytes: [UInt8], team: TeamID, key: P256.Signing.PublicKey, at now: Timestamp
    ) throws(APNsRejection) -> Credential {
        guard token.isSigned(by: key) else {
            throw APNsRejection(.invalidProviderToken, note: "the signature is not that of key \(token.keyID)")
        }
        guard token.team == team else {
            throw APNsRejection(.invalidProviderToken, note: "key \(token.keyID) is not of team \(token.team)")
        }
        if let refusal = token.refusal(at: now) { throw refusal }
        let credential = Credential(team: token.team, keyID: token.keyID, issuedAt: token.issuedAt)
        state.withLock { $0.verdicts.insert(credential, bytes) }
        return credential
    }

    /// Checks an `authorization` header, reading the keys again if the register has changed. Never returns
    /// `needsLookUp`. Concurrent callers share one reading of the keys.
    ///
    /// - Throws: An error when the store cannot be read.
    package func find(_ authorization: ArraySlice<UInt8>?) async throws -> CachedVerdict {
        // A register that changes during a reading is read again; one that changes all the time must not delay the
        // result for ever.
        for _ in 0..<3 {
            let cachedVerdict = known(authorization)
            guard case .needsLookUp = cachedVerdict else { return cachedVerdict }
            try await reading.wait { try await self.reloadIfChanged() }
        }
        return judge(authorization) { _ in true }
    }
}

extension CredentialDirectory: ProviderAuthentication {
    /// Checks the header's value like ``find(_:)``, without the refusal's note.
    ///
    /// - Throws: An error when the store cannot be read.
    package func team(authorization: String) async throws -> ProviderVerdict {
        switch try await find(ArraySlice(authorization.utf8)) {
        case .credential(let credential): return .team(credential.team)
        case .refused(let refusal, _):
            switch refusal.reason {
            case .missingProviderToken: return .missing
            case .expiredProviderToken: return .expired
            default: return .invalid
            }
        case .needsLookUp: return .invalid
        }
    }
}

extension ArraySlice<UInt8> {
    /// Compares the bytes in one call of the C library.
    func elementsEqualFast(_ other: ArraySlice<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { mine in
            other.withUnsafeBytes { theirs in
                guard let left = mine.baseAddress, let right = theirs.baseAddress else { return true }
                return memcmp(left, right, mine.count) == 0
            }
        }
    }
}
