import Logging
import Networking
import PushCore
import Synchronization

/// Ends the sessions of revoked devices, by polling the register's version.
///
/// Requests need no watch: the directories read the version each time. The watch also reads keys and apps anew every 30
/// seconds, for changes that did not raise the version.
package final class RegisterWatch: Sendable {
    private struct Poll {
        var version: UInt64?
        var at: Timestamp
        /// The register's entries by their names; `nil` before the first poll.
        var entries: [String: String]?
        /// The devices that were revoked lately, which are read twice.
        var revoked: Set<DeviceID> = []
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
    private let entries: @Sendable () async throws -> [String: String]
    private let mailboxes: MailboxService
    private let logger: Logger
    private let last: Mutex<Poll>

    /// Creates a watch that has read nothing yet; ``poll()`` reads.
    ///
    /// - Parameters:
    ///   - reloadOthers: Makes directories of other modules read the register again.
    ///   - entries: The state of each entry of the register, by its name; their differences are logged.
    package init(
        store: any RegisterStore, credentials: CredentialDirectory, apps: AppDirectory, mailboxes: MailboxService,
        reloadOthers: @escaping @Sendable () async throws -> Void = {},
        entries: @escaping @Sendable () async throws -> [String: String] = { [:] }, logger: Logger
    ) {
        self.store = store
        self.credentials = credentials
        self.apps = apps
        self.mailboxes = mailboxes
        self.reloadOthers = reloadOthers
        self.entries = entries
        self.logger = logger
        last = Mutex(Poll(at: mailboxes.now))
    }

    /// Checks the register at once for each element of a stream, and pauses after each check; returns when the stream
    /// ends.
    package func follow(_ changes: AsyncStream<Void>, pause: @Sendable () async -> Void) async {
        await rememberEntries()
        for await _ in changes {
            await poll()
            await pause()
        }
    }

    /// Reads the entries with which the first change is compared. Where that fails, the first poll reads them.
    private func rememberEntries() async {
        guard let entries = try? await entries() else { return }
        last.withLock { if $0.entries == nil { $0.entries = entries } }
    }

    /// Reads the register if it has changed, or the interval has passed; one call at a time. Failed reads are repeated
    /// by the next call.
    package func poll() async {
        let (now, version) = (mailboxes.now, store.registerVersion)
        let last = last.withLock { $0 }
        guard last.version != version || now.duration(since: last.at) >= Self.readingInterval else { return }
        do {
            try await credentials.reload()
            try await reloadOthers()
            try await apps.reload()
            let revoked = try await store.devicesRevoked(since: last.at - Self.overlap)
            if !revoked.isEmpty { mailboxes.endSessions(of: revoked) }
            let entries = try await entries()
            if let before = last.entries { logChanges(from: before, to: entries) }
            for device in revoked where last.entries != nil && !last.revoked.contains(device) {
                logger.notice(
                    "the register was changed: a device was revoked or blocked",
                    metadata: [LogKey.device: "\(device)"])
            }
            self.last.withLock { $0 = Poll(version: version, at: now, entries: entries, revoked: Set(revoked)) }
            mailboxes.handleRegisterRead()
        } catch {
            logger.warning("the register could not be read", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// Logs what commands changed, who may run beside the server.
    private func logChanges(from before: [String: String], to now: [String: String]) {
        for name in Set(before.keys).union(now.keys).sorted() where before[name] != now[name] {
            let what =
                switch (before[name], now[name]) {
                case (nil, let state?): "\(name) was added: \(state)"
                case (_, nil): "\(name) was removed"
                case (_, let state?): "\(name) was changed: \(state)"
                }
            logger.notice("the register was changed: \(what)")
        }
    }
}
