import Crypto
import Fanout
import Logging
import Mailbox
import Metrics
import NIOCore
import Observability
import PushModel
import RegisterCore

/// The one owner of all mailboxes and the one writer of the store.
///
/// Guarantees: commands take effect in the order in which they were queued; what they cause outside (results,
/// deliveries, login answers) happens after the synced commit of their batch, in order, or not at all. When a
/// batch cannot be committed, nothing of it has happened, and its callers are told so; a command without a caller that
/// would repeat it is tried again before anything that comes later.
///
/// Its executor is an event loop of its own, on which it may block for the store.
public actor MailboxService {
    nonisolated let loop: any EventLoop
    nonisolated let queue: MailboxCommandQueue
    nonisolated let presence = PresenceDirectory()
    nonisolated let ids: NotificationIDSource
    /// Whether the store takes what this service commits.
    nonisolated public let health = StoreHealth()
    nonisolated let metrics = MailboxMetrics()
    nonisolated let changing = ChangingAudiences()
    let store: any NotificationStore
    /// Knows the apps by which extensions are counted; `nil` where they are counted together.
    let apps: AppDirectory?
    /// Knows who is in lists; `nil` where there are none.
    let lists: (any RecipientLists)?
    private var extensionCounts = ExtensionCounts()
    /// What the sweep under way has passed.
    var waiting = WaitingCount()
    let clock: @Sendable () -> Timestamp
    let logger: Logger
    let messages = MailboxFailureMessages()
    var mailboxes: [DeviceID: ResidentMailbox] = [:]
    /// Those that the batch under way concerns.
    var batchMailboxes: [ResidentMailbox] = []
    var sentLines = SentLines()
    /// How many notifications the mailboxes in memory hold.
    var residentEntries = 0
    var sessions: [DeviceID: LiveSession] = [:]
    var lastEpoch: UInt64 = 0
    /// When this run of the server began.
    let startedAt: Timestamp
    /// Connected devices of which it may have to be noted that they are there; all of them, once a day.
    var devicesToNote: [DeviceID] = []
    var devicesNotedAt: Timestamp
    /// The connected devices by topic, and which of them are due for a look at their broadcasts.
    var live = LiveAudience()
    /// What was read of connected devices when they had their last turn.
    var known = KnownAudiences()
    /// A slice of those is being looked at.
    var isVisiting = false
    var isVisitScheduled = false
    /// It could not be told who is in a list: turns wait for a pause.
    var isUnsureOfLists = false
    /// The lists cannot be read until the server starts again.
    var areListsDamaged = false
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
        /// When it was last noted that the device is there.
        var seenAt: Timestamp
        /// The topics in which the device was when it logged in.
        var topics: Set<TopicNumber> = []
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
        /// How long a timeline is kept, from its notification's acceptance.
        public var timelineRetention = Duration.seconds(30 * 86_400)
        /// How long the payload of a notification that no longer waits is kept, from its timeline's last line.
        public var payloadRetention = Duration.seconds(86_400)
        /// How long the same `apns-id` for the same token names the same notification.
        public var identityWindow = Duration.seconds(86_400)
        /// The longest that a notification waits; also how long it waits without an expiration.
        public var longestWait = Duration.seconds(30 * 86_400)
        /// After how long an absence what waits for a device is dropped; up to a day more, since it is noted once a day
        /// that a device is there.
        public var longestAbsence = Duration.seconds(30 * 86_400)
        /// For how long after the start nobody counts as away: devices need time to come back.
        public var timeToReturn = Duration.seconds(3600)

        /// The cell that device tokens name; 0 where there is one server.
        public var cell: UInt16 = 0
        /// How many connected devices one transaction gives their turn with broadcasts.
        public var visitLimit = 512

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
    ///   - apps: Names the apps in metrics.
    ///   - lists: Knows who is in the lists that broadcasts are for.
    /// - Throws: when the store cannot be read or written.
    public init(
        store: any NotificationStore, node: UInt16, loop: any EventLoop, settings: Settings, apps: AppDirectory? = nil,
        lists: (any RecipientLists)? = nil, clock: @escaping @Sendable () -> Timestamp, logger: Logger
    ) throws {
        self.store = store
        self.loop = loop
        self.settings = settings
        self.apps = apps
        self.lists = lists
        queue = MailboxCommandQueue(bulkLimit: settings.bulkLimit)
        self.clock = clock
        self.logger = logger
        (startedAt, devicesNotedAt) = (clock(), clock())
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
    nonisolated func wake(_ push: MailboxCommandQueue.Push) {
        guard case .wake = push else { return }
        loop.execute { self.assumeIsolated { $0.drain() } }
    }

    /// Delivers to the device's connection, on this thread, and queues the timeline; `nil` when no id can be made now.
    nonisolated func attempt(_ acceptance: Acceptance) -> NotificationID? {
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
        code: String, note: String?, team: TeamID, topic: String, apnsID: APNsID?
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

    nonisolated func scheduleNotes(_ push: MailboxCommandQueue.Push) {
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
            commands.contains(where: \.looksAtNotes) ? queue.takeNotes(limit: MailboxCommandQueue.noteLimit) : []
        var batch = MailboxBatch()
        do {
            try noting {
                try ids.renew()
                try learn(commands, &batch)
                for queued in notes { batch.write(queued) }
                for command in commands { decide(command, &batch) }
                // Commands that change memory alone need no commit, and nobody waits for one.
                if !batch.changes.isEmpty { try metrics.committing { try store.apply(batch.changes) } }
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
        metrics.accepted(commands)
        for (line, app) in batch.extended { extensionCounts.count(line, of: app.flatMap { apps?.lastKnown($0) }) }
        visitNext()
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
                batch.add(
                    .noteUnrecorded(
                        UnrecordedSpan(team: team, first: entry.first, last: entry.last, count: entry.count)))
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
        nothingToForgetUntil = clock() + .seconds(1)
    }
}
