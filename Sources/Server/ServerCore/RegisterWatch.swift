import Logging
import Observability
import PushModel
import RegisterCore
import Synchronization

/// Ends the sessions of revoked devices, by looking at the register's version.
///
/// Requests need no watch: the directories ask for the version each time. The watch also reads keys and apps anew every
/// 30 seconds, for changes that did not raise the version.
public final class RegisterWatch: Sendable {
    private struct State {
        var version: UInt64?
        var lookedAt: Timestamp
        var readAt: Timestamp
    }

    /// How far back beyond the last look revocations are asked for. Another process takes the instant of a revocation
    /// before the revocation is durable.
    static let overlap = Duration.seconds(60)
    /// How often keys and apps are read anew although nothing was told.
    static let readingInterval = Duration.seconds(30)

    private let store: any RegisterStore
    private let credentials: CredentialDirectory
    private let apps: AppDirectory
    private let reloadOthers: @Sendable () async throws -> Void
    private let mailboxes: MailboxService
    private let logger: Logger
    private let state: Mutex<State>

    /// A watch that has looked at nothing yet; ``look()`` does it.
    ///
    /// - Parameter reloadOthers: Has directories of other rooms read the register again.
    public init(
        store: any RegisterStore, credentials: CredentialDirectory, apps: AppDirectory, mailboxes: MailboxService,
        reloadOthers: @escaping @Sendable () async throws -> Void = {}, logger: Logger
    ) {
        self.store = store
        self.credentials = credentials
        self.apps = apps
        self.mailboxes = mailboxes
        self.reloadOthers = reloadOthers
        self.logger = logger
        state = Mutex(State(lookedAt: mailboxes.now, readAt: mailboxes.now))
    }

    /// Looks once; call it when the register's version has changed, and about once a second, one call at a time. What cannot be read is looked at again next time.
    public func look() async {
        let now = mailboxes.now
        let version = store.registerVersion
        let (hasChanged, isDue, since) = state.withLock { state in
            (
                state.version != version, now.duration(since: state.readAt) >= Self.readingInterval,
                state.lookedAt
            )
        }
        guard hasChanged || isDue else { return }
        do {
            try await credentials.reload()
            try await reloadOthers()
            try await apps.reload()
            let revoked = try await store.devicesRevoked(since: since - Self.overlap)
            if !revoked.isEmpty { mailboxes.endSessions(of: revoked) }
            state.withLock { $0 = State(version: version, lookedAt: now, readAt: now) }
        } catch {
            logger.warning("the register could not be read", metadata: [LogKey.error: "\(error)"])
        }
    }
}
