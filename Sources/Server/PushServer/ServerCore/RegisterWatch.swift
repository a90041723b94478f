import Logging
import Networking
import PushCore
import Synchronization

/// Ends the sessions of revoked devices, by polling the register's version.
///
/// Requests need no watch: the directories read the version each time. The watch also reads keys and apps anew every 30
/// seconds, for changes that did not raise the version.
package final class RegisterWatch: Sendable {
    private struct Look {
        var version: UInt64?
        var at: Timestamp
    }

    /// The overlap with the previous check for which revocations are read again: another process dates one before it is
    /// durable.
    static let overlap = Duration.seconds(60)
    /// The interval at which keys and apps are read anew without a change of the version.
    static let readingInterval = Duration.seconds(30)

    private let store: any RegisterStore
    private let credentials: CredentialDirectory
    private let apps: AppDirectory
    private let reloadOthers: @Sendable () async throws -> Void
    private let mailboxes: MailboxService
    private let logger: Logger
    private let last: Mutex<Look>

    /// Creates a watch that has read nothing yet; ``look()`` reads.
    ///
    /// - Parameter reloadOthers: Makes directories of other modules read the register again.
    package init(
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

    /// Checks the register at once for each element of a stream, and pauses after each check; returns when the stream
    /// ends.
    package func follow(_ changes: AsyncStream<Void>, pause: @Sendable () async -> Void) async {
        for await _ in changes {
            await look()
            await pause()
        }
    }

    /// Reads the register if it has changed, or the interval has passed; one call at a time. Failed reads are repeated
    /// by the next call.
    package func look() async {
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
