import FCMProtocol
import PushCore
import Synchronization

/// The register's service accounts in memory, as of a version of the register. Thread-safe.
///
/// Every result is that of the register's present version, so that a revoked account is refused at the next request.
package final class ServiceAccountDirectory: Sendable {
    private struct Entry: Sendable {
        var account: ServiceAccount
        var key: ServiceAccountKey
    }

    private struct State {
        var byKeyID: [String: Entry] = [:]
        var keyIDs: [String: String] = [:]
        /// The register's version when they were read; `nil` before the first time.
        var version: UInt64?
    }

    private let store: any ServiceAccountRegister
    private let state = Mutex(State())
    private let reading: CoalescedLoad

    /// Creates a directory that has read nothing yet.
    ///
    /// - Parameter clock: The clock by which failed readings are spaced.
    package init(store: any ServiceAccountRegister, clock: @escaping @Sendable () -> Timestamp) {
        self.store = store
        reading = CoalescedLoad(clock: clock)
    }

    /// Reads every account again; one whose key cannot be used is ignored.
    package func reload() async throws {
        let version = store.registerVersion
        var entries: [String: Entry] = [:]
        var keyIDs: [String: String] = [:]
        for account in try await store.serviceAccounts() where account.revokedAt == nil {
            guard let key = ServiceAccountKey(pem: account.publicKeyPEM) else { continue }
            entries[account.keyID] = Entry(account: account, key: key)
            keyIDs[account.email] = account.keyID
        }
        let read = (entries, keyIDs)
        state.withLock { $0 = State(byKeyID: read.0, keyIDs: read.1, version: version) }
    }

    private func reloadIfChanged() async throws {
        guard state.withLock({ $0.version }) != store.registerVersion else { return }
        try await reload()
    }

    /// Reads the accounts of the present version. A register that changes all the time must not delay the result for
    /// ever.
    private func readPresentVersion() async throws {
        for _ in 0..<3 where state.withLock({ $0.version }) != store.registerVersion {
            try await reading.wait { try await self.reloadIfChanged() }
        }
    }

    /// The account with a key's id, unless it was revoked.
    ///
    /// - Throws: An error when the store cannot be read.
    package func account(keyID: String) async throws -> ServiceAccount? {
        try await readPresentVersion()
        return state.withLock { $0.byKeyID[keyID]?.account }
    }

    /// The account that an assertion specifies, and whether the account signed it.
    ///
    /// - Returns: `nil` where there is no such account.
    /// - Throws: An error when the store cannot be read.
    package func signer(of assertion: ServiceAssertion) async throws -> (account: ServiceAccount, isGenuine: Bool)? {
        try await readPresentVersion()
        let entry = state.withLock { state in
            (assertion.keyID ?? state.keyIDs[assertion.issuer]).flatMap { state.byKeyID[$0] }
        }
        guard let entry, entry.account.email == assertion.issuer else { return nil }
        return (entry.account, assertion.isSigned(by: entry.key))
    }
}
