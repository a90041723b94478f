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
        public var team: TeamID
        public var keyID: String
        public var issuedAt: Timestamp

        /// The refusal that the passing of time brings.
        public func refusal(at now: Timestamp) -> APNsRefusal? {
            now.milliseconds(since: issuedAt) > ProviderToken.lifetimeMilliseconds
                ? APNsRefusal(.expiredProviderToken, note: "the provider token is older than one hour") : nil
        }
    }

    /// What is known of a header value without asking the store.
    public enum Knowledge: Sendable {
        case credential(Credential)
        case refused(APNsRefusal)
        /// Its key is not known yet: ask with ``find(_:)``.
        case notAskedYet
    }

    private struct State {
        var keys: [String: (team: TeamID, key: P256.Signing.PublicKey)] = [:]
        var verdicts = GenerationCache<[UInt8], Credential>(capacity: 2048)
    }

    private let store: any RegisterStore
    private let clock: @Sendable () -> Timestamp
    private let state = Mutex(State())
    private let reading: SharedReading

    public init(store: any RegisterStore, clock: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.clock = clock
        reading = SharedReading(clock: clock)
    }

    /// What one connection remembers, so that the usual request asks nobody.
    public struct Memory: Sendable {
        fileprivate var authorization: ArraySlice<UInt8> = []
        fileprivate var credential: Credential?
        fileprivate var until = Timestamp(rawValue: .min)

        public init() {}
    }

    /// Judges an `authorization` header like ``known(_:)``, from the connection's memory if it is the one of last
    /// time; what is remembered is asked for again after a second.
    public func known(_ authorization: ArraySlice<UInt8>?, _ memory: inout Memory, now: Timestamp) -> Knowledge {
        if let authorization, let credential = memory.credential, now < memory.until,
            authorization.elementsEqualFast(memory.authorization)
        {
            return credential.refusal(at: now).map { .refused($0) } ?? .credential(credential)
        }
        let knowledge = known(authorization)
        if case .credential(let credential) = knowledge, let authorization {
            memory.authorization = ArraySlice(Array(authorization))
            memory.credential = credential
            memory.until = now.adding(milliseconds: 1000)
        }
        return knowledge
    }

    /// Reads every provider key again; one that is not a P-256 public key is passed over.
    public func reload() async throws {
        var keys: [String: (team: TeamID, key: P256.Signing.PublicKey)] = [:]
        for stored in try await store.providerKeys() {
            guard let key = try? P256.Signing.PublicKey(pemRepresentation: stored.publicKeyPEM) else { continue }
            keys[stored.keyID] = (stored.team, key)
        }
        let read = keys
        state.withLock { $0.keys = read }
    }

    /// Judges an `authorization` header from memory, checking the signature if its key is known.
    public func known(_ authorization: ArraySlice<UInt8>?) -> Knowledge {
        judge(authorization) { now in reading.isFresh(at: now) }
    }

    /// - Parameter isUpToDate: Whether a key that is not in memory is not in the store either.
    private func judge(_ authorization: ArraySlice<UInt8>?, isUpToDate: (Timestamp) -> Bool) -> Knowledge {
        guard let authorization, !authorization.isEmpty else {
            return .refused(APNsRefusal(.missingProviderToken, note: "there is no authorization header"))
        }
        let now = clock()
        let bytes = Array(authorization)
        if let credential = state.withLock({ $0.verdicts.value(bytes) }) {
            return credential.refusal(at: now).map { .refused($0) } ?? .credential(credential)
        }
        do throws(APNsRefusal) {
            let token = try ProviderToken(authorization: authorization)
            // Asked before the look into memory, which a reading may change in between.
            let isUpToDate = isUpToDate(now)
            if let entry = state.withLock({ $0.keys[token.keyID] }) {
                return .credential(try credential(token, bytes, entry.team, entry.key, now))
            }
            return isUpToDate
                ? .refused(APNsRefusal(.invalidProviderToken, note: "there is no key \(token.keyID)")) : .notAskedYet
        } catch {
            return .refused(error)
        }
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

    /// Judges an `authorization` header, reading the keys again if its own is not known.
    ///
    /// The keys are read for everyone who asks at once, and at most once a second: a key id that the last reading
    /// did not find is unknown until the second is over. Never answers `notAskedYet`.
    /// - Throws: when the store cannot be read.
    public func find(_ authorization: ArraySlice<UInt8>?) async throws -> Knowledge {
        let first = known(authorization)
        guard case .notAskedYet = first else { return first }
        try await reading.wait { try await self.reload() }
        return judge(authorization) { _ in true }
    }
}

extension CredentialDirectory: ProviderAuthentication {
    public func team(authorization: String) async throws -> ProviderVerdict {
        switch try await find(ArraySlice(authorization.utf8)) {
        case .credential(let credential): return .team(credential.team)
        case .refused(let refusal):
            switch refusal.reason {
            case .missingProviderToken: return .missing
            case .expiredProviderToken: return .expired
            default: return .invalid
            }
        case .notAskedYet: return .invalid
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
