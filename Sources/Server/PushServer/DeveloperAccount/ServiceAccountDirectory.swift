import Crypto
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

    /// The accounts that were accepted without being in the register, by their keys' ids, and their teams' projects.
    private struct Unknown {
        var accounts: [String: ServiceAccount] = [:]
        var projects: [TeamID: String] = [:]
    }

    private let store: any ServiceAccountRegister
    private let state = Mutex(State())
    private let acceptsUnknown: Bool
    private let unknown = Mutex(Unknown())
    private let reading: CoalescedLoad

    /// Creates a directory that has read nothing yet.
    ///
    /// - Parameters:
    ///   - acceptsUnknown: Whether an unknown account is accepted, its signature unchecked: for tests.
    ///   - clock: The clock by which failed readings are spaced.
    package init(
        store: any ServiceAccountRegister, acceptsUnknown: Bool = false, clock: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.acceptsUnknown = acceptsUnknown
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
        return state.withLock { $0.byKeyID[keyID]?.account } ?? unknown.withLock { $0.accounts[keyID] }
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
        guard let entry, entry.account.email == assertion.issuer else { return accept(assertion) }
        return (entry.account, assertion.isSigned(by: entry.key))
    }

    // MARK: Accounts that the register does not have

    /// Accepts an unknown account, where that is allowed. Its project is the one in its address.
    private func accept(_ assertion: ServiceAssertion) -> (account: ServiceAccount, isGenuine: Bool)? {
        guard acceptsUnknown else { return nil }
        let project = Self.project(ofAddress: assertion.issuer)
        let account = ServiceAccount(
            // Fixtures of tests have one key for several accounts.
            keyID: Self.digest("\(assertion.keyID ?? "") \(assertion.issuer)"), team: Self.team(ofProject: project),
            email: assertion.issuer, publicKeyPEM: "", createdAt: Timestamp(rawValue: 0))
        unknown.withLock { unknown in
            unknown.accounts[account.keyID] = account
            unknown.projects[account.team] = project
        }
        return (account, true)
    }

    /// The project of a service account's address, `NAME@PROJECT.iam.gserviceaccount.com`.
    package static func project(ofAddress address: String) -> String {
        let host = address.split(separator: "@").last ?? ""
        return String(host.split(separator: ".").first ?? "project")
    }

    /// The team of a project that the register does not have: the one that the id names, else one made of its digest.
    package static func team(ofProject project: String) -> TeamID {
        ProjectName.team(project) ?? TeamID(rawValue: String(digest(project).uppercased().prefix(10)))
    }

    private static func digest(_ text: String) -> String {
        SHA256.hash(data: Array(text.utf8)).prefix(20).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    /// The project that an accepted account of the team was made for; `nil` where there is none.
    package func unknownProject(of team: TeamID) -> String? { unknown.withLock { $0.projects[team] } }

    /// The project of a team's accounts, by the name that the team's senders use.
    package func projectName(of team: TeamID) -> String { unknownProject(of: team) ?? ProjectName.id(of: team) }
}
