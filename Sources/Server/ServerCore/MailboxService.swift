import Crypto
import Logging
import Mailbox
import Metrics
import NIOCore
import Observability
import PushModel

/// The one owner of all mailboxes and the one writer of the store.
///
/// Guarantees: commands take effect in the order in which they were queued; what they cause outside (verdicts,
/// deliveries, login answers) happens after the synced commit of their batch, in order, or not at all. When a
/// batch cannot be committed, nothing of it has happened, and its callers are told so; a command without a caller that
/// would repeat it is tried again before anything that comes later.
///
/// Its executor is an event loop of its own, on which it may block for the store.
public actor MailboxService {
    nonisolated let loop: any EventLoop
    nonisolated let queue: CommandQueue
    nonisolated let presence = PresenceDirectory()
    nonisolated let ids: NotificationIDSource
    /// Whether the store takes what this service commits.
    nonisolated public let health = StoreHealth()
    let store: any NotificationStore
    let clock: @Sendable () -> Timestamp
    let logger: Logger
    var mailboxes: [DeviceID: ResidentMailbox] = [:]
    /// Those that the batch under way concerns.
    var batchMailboxes: [ResidentMailbox] = []
    var sentLines = SentLines()
    /// How many notifications the mailboxes in memory hold.
    var residentEntries = 0
    var sessions: [DeviceID: LiveSession] = [:]
    var lastEpoch: UInt64 = 0
    var isStopped = false
    /// A round of pruning has begun and has more to do.
    var isPruning = false
    var pruningPace = PruningPace()
    /// Commands of failed batches that no caller would bring again; they go before everything else.
    var deferred: [MailboxCommand] = []
    var isRetryScheduled = false
    /// Transactions that failed, since the start.
    var failures = 0
    /// Mailboxes to forget are not looked for before this instant: the last look found none.
    var nothingToForgetUntil = Timestamp(rawValue: .min)
    let settings: Settings

    /// A device's live connection.
    struct LiveSession {
        var id: DeviceSessionID
        var connection: any DeviceConnection
    }

    /// The service's numbers.
    public struct Settings: Sendable {
        /// About how many commands of each of the queue's lanes one transaction takes.
        public var batchLimit = 512
        /// How many acceptances that come in bulk may be queued; at least 1.
        public var bulkLimit = 1024
        /// Timelines that are written behind in one transaction, at most; with ``notePause`` it is their rate.
        public var notesPerBatch = 512
        /// The pause between two transactions of timelines that are written behind.
        public var notePause = TimeAmount.milliseconds(100)
        /// Notifications held in memory before mailboxes of absent devices are forgotten.
        public var residentLimit = 2_000_000
        /// Commands that are kept to be tried again after a failed commit.
        public var deferredLimit = 65_536
        /// The pause before a failed commit is tried again.
        public var retryPause = TimeAmount.seconds(1)
        /// Lines of one timeline beyond which no more receipts are recorded.
        public var lineLimit = 128
        /// How long a timeline is kept, in milliseconds from its notification's acceptance.
        public var timelineRetentionMilliseconds: Int64 = 30 * 24 * 3_600_000
        /// How long the payload of a notification that no longer waits is kept, in milliseconds from its timeline's
        /// last line.
        public var payloadRetentionMilliseconds: Int64 = 24 * 3_600_000
        /// How long the same `apns-id` for the same token names the same notification, in milliseconds.
        public var identityWindowMilliseconds: Int64 = 24 * 3_600_000
        /// The longest that a notification waits, in milliseconds; also how long it waits without an expiration.
        public var longestWaitMilliseconds: Int64 = 30 * 24 * 3_600_000

        /// The defaults, each as it stands at its property.
        public init() {}
    }

    /// The executor of the service's event loop: code on the loop enters the actor by `assumeIsolated`.
    nonisolated public var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }

    /// A service over a store, with its ceiling of ids made durable; ``start()`` begins the upkeep.
    ///
    /// - Parameters:
    ///   - node: This server's number in its ids, `0 ... 511`.
    ///   - loop: An event loop for the service alone: it blocks for the store.
    /// - Throws: when the store cannot be read or written.
    public init(
        store: any NotificationStore, node: UInt16, loop: any EventLoop, settings: Settings,
        clock: @escaping @Sendable () -> Timestamp, logger: Logger
    ) throws {
        self.store = store
        self.loop = loop
        self.settings = settings
        queue = CommandQueue(bulkLimit: settings.bulkLimit)
        self.clock = clock
        self.logger = logger
        ids = try NotificationIDSource(store: store, node: node, clock: clock)
    }

    /// How many mailboxes are held in memory.
    var residentMailboxes: Int { mailboxes.count }

    // MARK: Entry, from any thread

    /// The time by the clock that the service was given.
    nonisolated public var now: Timestamp { clock() }

    nonisolated func submit(_ command: MailboxCommand) -> Bool {
        let push = queue.push(command)
        wake(push)
        if case .full = push { return false }
        return true
    }

    /// Wakes the writer where a push asks for it.
    nonisolated func wake(_ push: CommandQueue.Push) {
        guard case .wake = push else { return }
        loop.execute { self.assumeIsolated { $0.drain() } }
    }

    /// Queues the acceptance, or makes its one attempt at once. Returns `false` while 32,768 acceptances are queued.
    nonisolated public func accept(_ acceptance: Acceptance, sink: any AcceptanceSink) -> Bool {
        guard acceptance.isAttempt else { return submit(.accept(QueuedAcceptance(acceptance, sink))) }
        sink.judged([attempted(acceptance)])
        return true
    }

    /// Delivers to the device's connection, on this thread, and queues the timeline.
    nonisolated public func attempt(_ acceptance: Acceptance) -> NotificationID? {
        let now = clock()
        guard let id = ids.next(now: now) else { return nil }
        let connection = presence.connection(of: acceptance.subject.device)
        let push = queue.push(
            note: {
                let record = Self.record(acceptance, id: id, now: now, expiresAt: nil)
                let ends = connection == nil
                return .attempted(
                    record, ends ? [TimelineEntry(at: now, state: .dropped(.offline), source: .server)] : [])
            }, id: id, team: acceptance.app.team, isOpen: connection != nil)
        scheduleNotes(push)
        connection?.deliver([Self.outgoing(acceptance, id: id, now: now, expiresAt: nil)])
        return id
    }

    /// Queues the refusal for its timeline; of the topic 255 characters are kept.
    nonisolated public func noteRefusal(
        code: String, note: String?, team: TeamID, topic: String, apnsID: String?
    ) -> NotificationID? {
        let now = clock()
        guard let id = ids.next(now: now) else { return nil }
        scheduleNotes(
            queue.push(
                note: {
                    .refused(
                        RefusalRecord(
                            id: id, team: team, topic: String(topic.prefix(255)), apnsID: apnsID, at: now,
                            code: code, note: note))
                }, id: id, team: team))
        return id
    }

    nonisolated func scheduleNotes(_ push: CommandQueue.Push) {
        guard case .wake = push else { return }
        loop.execute { self.assumeIsolated { $0.writeNotes() } }
    }

    // MARK: The writer

    func drain() {
        guard drainOnce() else { return }
        loop.execute { self.assumeIsolated { $0.drain() } }
    }

    /// Processes one batch of what is queued; `false` when there was nothing, or the store failed.
    ///
    /// After a failed commit the rest of what is queued has failed too, so that nothing overtakes what is deferred.
    @discardableResult
    func drainOnce() -> Bool {
        guard processDeferred() else { return false }
        let batch = queue.takeBatch(limit: settings.batchLimit)
        guard !batch.isEmpty else { return false }
        do {
            try process(batch)
            forgetAbsentDevices()
        } catch {
            failed(batch + queue.takeEverything(), error)
            return false
        }
        return true
    }

    /// Processes what an earlier batch left behind, before anything later; `false` when the store still fails.
    private func processDeferred() -> Bool {
        while !deferred.isEmpty {
            let commands = deferred
            deferred = []
            let batch = Array(commands.prefix(settings.batchLimit))
            do {
                try process(batch)
                deferred = Array(commands.dropFirst(batch.count))
            } catch {
                failed(commands + queue.takeEverything(), error)
                return false
            }
        }
        return true
    }

    private func process(_ commands: [MailboxCommand]) throws {
        let notes =
            commands.contains(where: \.looksAtNotes) ? queue.takeNotes(limit: CommandQueue.noteLimit) : []
        var batch = MailboxBatch()
        do {
            try noting {
                try ids.renew()
                try learn(commands, &batch)
                for queued in notes { batch.write(queued) }
                for command in commands { decide(command, &batch) }
                // Commands that change memory alone need no commit, and nobody waits for one.
                if !batch.changes.isEmpty { try store.apply(batch.changes) }
            }
        } catch {
            queue.putBack(notes)
            sentLines.failed()
            endBatch { $0.failed() }
            throw error
        }
        queue.committed(notes)
        sentLines.committed()
        for change in batch.effects.sessionChanges { enter(change) }
        endBatch { $0.committed() }
        batch.effects.release()
        if batch.prunes { prune() }
    }

    func writeNotes() {
        let (notes, unrecorded) = queue.takeNotesAndCounts(limit: settings.notesPerBatch)
        guard !notes.isEmpty || !unrecorded.isEmpty else { return }
        var pause = settings.notePause
        do {
            var batch = MailboxBatch()
            for queued in notes { batch.write(queued) }
            for (team, entry) in unrecorded {
                batch.noteUnrecorded(
                    UnrecordedSpan(team: team, first: entry.first, last: entry.last, count: entry.count))
            }
            try noting {
                try ids.renew()
                try store.apply(batch.changes)
            }
            queue.committed(notes)
            let lost = unrecorded.values.reduce(0) { $0 + $1.count }
            if lost > 0 { Counter(label: "aldaba_timelines_not_recorded_total").increment(by: lost) }
        } catch {
            failures += 1
            logger.error("timelines could not be written yet", metadata: [LogKey.error: "\(error)"])
            queue.putBack(notes, unrecorded)
            pause = settings.retryPause
        }
        guard !isStopped else { return }
        loop.scheduleTask(in: pause) { self.assumeIsolated { $0.writeNotes() } }
    }

    /// Keeps memory bounded: mailboxes of devices without a session can be read again when they are needed.
    private func forgetAbsentDevices() {
        guard residentEntries > settings.residentLimit, clock() >= nothingToForgetUntil else { return }
        for (device, resident) in mailboxes where sessions[device] == nil {
            residentEntries -= resident.count
            mailboxes[device] = nil
            if residentEntries <= settings.residentLimit / 2 { return }
        }
        // All that is left belongs to connected devices; looking again at once would find the same.
        nothingToForgetUntil = clock().adding(milliseconds: 1000)
    }
}
