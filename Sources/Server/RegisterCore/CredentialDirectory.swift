import APNsWire
import Crypto
import Foundation
import PushModel
import Synchronization

/// Verdicts on provider tokens: an ES256 check costs ten times a request, so each token is checked once.
///
/// Thread-safe. A verdict is kept under the whole header value; its age is looked at every time.
public final class CredentialDirectory: Sendable {
    /// A provider token that was found genuine.
    public struct Credential: Hashable, Sendable {
        /// The team whose key signed the token.
        public var team: TeamID
        /// The id of that provider key: ten characters `A-Z0-9`.
        public var keyID: KeyID
        /// When the provider made the token: its `iat` claim (RFC 7519, 4.1.6).
        public var issuedAt: Timestamp

        /// The refusal of a token that is older than an hour; `nil` while it is not.
        public func refusal(at now: Timestamp) -> APNsRefusal? {
            now.duration(since: issuedAt) > ProviderToken.lifetime
                ? APNsRefusal(.expiredProviderToken, note: "the provider token is older than one hour") : nil
        }
    }

    /// A key or a certificate of the register, by the names that its team knows.
    public struct KnownKey: Hashable, Sendable {
        /// The team that owns it.
        public var team: TeamID
        /// Its id: ten characters `A-Z0-9`.
        public var keyID: KeyID

        /// Names a key; whether the register has it is not checked.
        public init(team: TeamID, keyID: KeyID) {
            self.team = team
            self.keyID = keyID
        }
    }

    /// What is known of a header value without asking the store.
    public enum Knowledge: Sendable {
        /// Genuine, and not older than an hour.
        case credential(Credential)
        /// Refused, and why; `key` is the key that the token names, `nil` where the register has no such key.
        case refused(APNsRefusal, key: KnownKey? = nil)
        /// The register has changed: ask with ``find(_:)``.
        case needsLookUp
    }

    private struct State {
        /// What was read, from which the keys are.
        var stored: [ProviderKey] = []
        var keys: [KeyID: (team: TeamID, key: P256.Signing.PublicKey)] = [:]
        /// The register's version when the keys were read; `nil` before the first time.
        var version: UInt64?
        var verdicts = GenerationCache<[UInt8], Credential>(capacity: 2048)
    }

    private let store: any RegisterStore
    private let clock: @Sendable () -> Timestamp
    private let state = Mutex(State())
    /// How many readings brought other keys than the one before: connections remember nothing beyond that.
    private let edition = Atomic<UInt64>(0)
    private let reading: CoalescedLoad

    /// A directory that has read no key yet.
    ///
    /// - Parameter clock: Tells the time by which tokens age.
    public init(store: any RegisterStore, clock: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.clock = clock
        reading = CoalescedLoad(clock: clock)
    }

    /// What one connection remembers, so that the usual request asks nobody.
    public struct Memory: Sendable {
        fileprivate var authorization: ArraySlice<UInt8> = []
        fileprivate var credential: Credential?
        fileprivate var version: UInt64 = 0
        fileprivate var edition: UInt64 = 0
        /// Tokens of known keys whose signature was looked at and is wrong.
        fileprivate var forgeries = 0

        /// The memory of a connection that has made no request yet.
        public init() {}
    }

    /// A connection that has shown more wrong signatures than this is refused without a look at further ones: each
    /// costs as much as ten requests.
    static let forgeryLimit = 16

    /// Judges an `authorization` header like ``known(_:)``, from the connection's memory if it is the one of last
    /// time and neither has the register changed since nor a reading brought other keys.
    public func known(_ authorization: ArraySlice<UInt8>?, _ memory: inout Memory) -> Knowledge {
        let (version, edition) = (store.registerVersion, edition.load(ordering: .acquiring))
        if let authorization, let credential = memory.credential, memory.version == version, memory.edition == edition,
            authorization.elementsEqualFast(memory.authorization)
        {
            return Self.knowledge(credential, at: clock())
        }
        guard memory.forgeries < Self.forgeryLimit else {
            return .refused(
                APNsRefusal(
                    .tooManyProviderTokenUpdates, note: "the connection has shown too many wrong signatures"))
        }
        let knowledge = known(authorization)
        switch knowledge {
        case .credential(let credential):
            guard let authorization else { break }
            memory.authorization = ArraySlice(Array(authorization))
            memory.credential = credential
            (memory.version, memory.edition) = (version, edition)
        case .refused(let refusal, key: .some) where refusal.reason == .invalidProviderToken: memory.forgeries += 1
        case .refused, .needsLookUp: break
        }
        return knowledge
    }

    /// Reads every provider key again; one that is not a P-256 public key is passed over. Verdicts of before are
    /// forgotten.
    public func reload() async throws {
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

    /// Judges an `authorization` header from memory, checking the signature if its key is known.
    ///
    /// Every answer is that of the register's present version: when that has changed, the keys must be read first, so
    /// that a revoked key is refused, and a new one taken, at the next request.
    public func known(_ authorization: ArraySlice<UInt8>?) -> Knowledge {
        let version = store.registerVersion
        return judge(authorization) { $0 == version }
    }

    /// - Parameter isCurrent: Whether keys that were read at a version of the register may be used.
    private func judge(_ authorization: ArraySlice<UInt8>?, isCurrent: (UInt64?) -> Bool) -> Knowledge {
        guard let authorization, !authorization.isEmpty else {
            return .refused(APNsRefusal(.missingProviderToken, note: "there is no authorization header"))
        }
        let now = clock()
        let bytes = Array(authorization)
        let (isCurrent, verdict) = state.withLock { state in
            isCurrent(state.version) ? (true, state.verdicts.value(bytes)) : (false, nil)
        }
        if let verdict { return Self.knowledge(verdict, at: now) }
        do throws(APNsRefusal) {
            let token = try ProviderToken(authorization: authorization)
            guard isCurrent else { return .needsLookUp }
            guard let entry = state.withLock({ $0.keys[token.keyID] }) else {
                return .refused(APNsRefusal(.invalidProviderToken, note: "there is no key \(token.keyID)"))
            }
            do throws(APNsRefusal) {
                return .credential(try credential(token, bytes, entry.team, entry.key, now))
            } catch {
                return .refused(error, key: KnownKey(team: entry.team, keyID: token.keyID))
            }
        } catch {
            return .refused(error)
        }
    }

    private static func knowledge(_ credential: Credential, at now: Timestamp) -> Knowledge {
        guard let refusal = credential.refusal(at: now) else { return .credential(credential) }
        return .refused(refusal, key: KnownKey(team: credential.team, keyID: credential.keyID))
    }

    private func credential(
        _ token: ProviderToken, _ bytes: [UInt8], _ team: TeamID, _ key: P256.Signing.PublicKey, _ now: Timestamp
    ) throws(APNsRefusal) -> Credential {
        guard token.isSigned(by: key) else {
            throw APNsRefusal(.invalidProviderToken, note: "the signature is not that of key \(token.keyID)")
        }
        guard token.team == team else {
            throw APNsRefusal(.invalidProviderToken, note: "key \(token.keyID) is not of team \(token.team)")
        }
        if let refusal = token.refusal(at: now) { throw refusal }
        let credential = Credential(team: token.team, keyID: token.keyID, issuedAt: token.issuedAt)
        state.withLock { $0.verdicts.insert(credential, bytes) }
        return credential
    }

    /// Judges an `authorization` header, reading the keys again if the register has changed. Never answers
    /// `needsLookUp`. The keys are read for everyone who asks at once.
    ///
    /// - Throws: when the store cannot be read.
    public func find(_ authorization: ArraySlice<UInt8>?) async throws -> Knowledge {
        // A register that changes during a reading is read again; one that never stands still is answered all the same.
        for _ in 0..<3 {
            let knowledge = known(authorization)
            guard case .needsLookUp = knowledge else { return knowledge }
            try await reading.wait { try await self.reloadIfChanged() }
        }
        return judge(authorization) { _ in true }
    }
}

extension CredentialDirectory: ProviderAuthentication {
    /// Judges the header's value like ``find(_:)``, without the refusal's note.
    ///
    /// - Throws: when the store cannot be read.
    public func team(authorization: String) async throws -> ProviderVerdict {
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
