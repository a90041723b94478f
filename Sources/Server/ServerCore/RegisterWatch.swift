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
    private struct Look {
        var version: UInt64?
        var at: Timestamp
    }

    /// How far before the last look revocations are asked for: another process dates one before it is durable.
    static let overlap = Duration.seconds(60)
    /// How often keys and apps are read anew although nothing was told.
    static let readingInterval = Duration.seconds(30)

    private let store: any RegisterStore
    private let credentials: CredentialDirectory
    private let apps: AppDirectory
    private let reloadOthers: @Sendable () async throws -> Void
    private let mailboxes: MailboxService
    private let logger: Logger
    private let last: Mutex<Look>

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
        last = Mutex(Look(at: mailboxes.now))
    }

    /// Looks at once whenever something comes, and pauses after each look; until the stream ends.
    public func follow(_ changes: AsyncStream<Void>, pause: @Sendable () async -> Void) async {
        for await _ in changes {
            await look()
            await pause()
        }
    }

    /// Reads the register where it has changed, or it is time; one call at a time. What cannot be read is next time.
    public func look() async {
        let (now, version) = (mailboxes.now, store.registerVersion)
        let last = last.withLock { $0 }
        guard last.version != version || now.duration(since: last.at) >= Self.readingInterval else { return }
        do {
            try await credentials.reload()
            try await reloadOthers()
            try await apps.reload()
            let revoked = try await store.devicesRevoked(since: last.at - Self.overlap)
            if !revoked.isEmpty { mailboxes.endSessions(of: revoked) }
            self.last.withLock { $0 = Look(version: version, at: now) }
        } catch {
            logger.warning("the register could not be read", metadata: [LogKey.error: "\(error)"])
        }
    }
}
