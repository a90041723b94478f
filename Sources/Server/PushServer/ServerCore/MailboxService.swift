import Crypto
import Logging
import Metrics
import NIOCore
import Networking
import PushCore
import Synchronization

/// The owner of all mailboxes and the one writer of the store.
///
/// Guarantees: commands take effect in the order in which they were queued. Their external effects (results,
/// deliveries, login verdicts) happen after the synced commit of their batch, in order, or not at all. When a batch
/// cannot be committed, none of its changes happen, and its callers are notified. A command without a caller that would
/// repeat it is retried before any later command.
///
/// Its executor is an event loop of its own, on which it may block for the store.
package actor MailboxService {
    nonisolated let loop: any EventLoop
    nonisolated let queue: MailboxCommandQueue
    nonisolated let presence = PresenceDirectory()
    nonisolated let ids: NotificationIDSource
    /// The health of the store: whether commits succeed.
    nonisolated package let health = StoreHealth()
    nonisolated let metrics = MailboxMetrics()
    nonisolated let changing = ChangingAudiences()
    let store: any NotificationStore
    /// The ports of a node of several; `nil` over a store that one process uses.
    nonisolated let nodes: NodePorts?
    nonisolated let attempts = AttemptQueue()
    nonisolated let nodeStatus = NodeStatus()
    /// Tells that messages of apps have arrived, here or at another node.
    nonisolated package let arrivals = MessageArrivalSignal()
    /// The directory of the apps by which extensions are counted; `nil` where they are counted together.
    let apps: AppDirectory?
    /// The source of lists' members; `nil` where there are no lists.
    let lists: (any RecipientLists)?
    let clock: @Sendable () -> Timestamp
    let logger: Logger
    /// The changes of each batch go here after its commit; `nil` where nobody follows them.
    private let received: ReceivedRequests?
    /// Tells which notifications each commit has changed.
    nonisolated package let feed = NotificationFeed()
    nonisolated let refusals: RefusalLog
    /// The state of the delivery of broadcasts to connected devices.
    var broadcasts = BroadcastState()
    /// The mailboxes in memory.
    var residents = ResidentMailboxes()
    /// The commands that are retried after a failed commit.
    var retries = CommandRetries()
    /// The state of the periodic tasks.
    var upkeep = UpkeepState()
    /// Counts that the service keeps for metrics and timelines.
    var counts = MailboxCounts()
    /// The live connections of devices.
    var connections = LiveConnections()
    /// The other nodes.
    var others = OtherNodes()
    let settings: Settings

    /// A device's live connection.
    struct LiveSession {
        var id: DeviceSessionID
        var connection: any DeviceConnection
        /// The time at which the device logged in.
        var openedAt: Timestamp
        /// The time at which the device's presence was last recorded.
        var seenAt: Timestamp
        /// The device's topics at its login.
        var topics: Set<TopicNumber> = []
        /// The last batch of its mailbox that it knows; of a node of several.
        var progress = SessionBatchProgress(openedAt: 0)
    }

    /// The service's limits and intervals.
    package struct Settings: Sendable {
        /// The approximate number of commands of each of the queue's lanes in one transaction.
        package var batchLimit = 512
        /// The maximum number of queued bulk acceptances; at least 1.
        package var bulkLimit = 1024
        /// The maximum number of timelines written behind in one transaction; with ``notePause`` it determines their
        /// rate.
        package var notesPerBatch = 512
        /// The pause between two transactions of timelines that are written behind.
        package var notePause = TimeAmount.milliseconds(100)
        /// The number of notifications in memory above which mailboxes of absent devices are removed from it.
        package var residentLimit = 2_000_000
        /// The maximum number of commands that are kept for a retry after a failed commit.
        package var deferredLimit = 65_536
        /// The pause before a failed commit is retried.
        package var retryPause = TimeAmount.seconds(1)
        /// The number of lines of one timeline beyond which no more receipts are recorded.
        package var lineLimit = 128
        /// The time for which a timeline is kept, from its notification's acceptance.
        package var timelineRetention = Duration.seconds(30 * 86_400)
        /// The time for which the payload of a notification that is no longer queued is kept, from its timeline's last
        /// line.
        package var payloadRetention = Duration.seconds(86_400)
        /// The time for which the same `apns-id` for the same token identifies the same notification.
        package var identityWindow = Duration.seconds(86_400)
        /// The longest time for which a notification is queued; also the time for one without an expiration.
        package var longestWait = Duration.seconds(30 * 86_400)
        /// The absence after which a device's queued notifications are dropped. It may last up to a day more, since
        /// presence is recorded once a day.
        package var longestAbsence = Duration.seconds(30 * 86_400)
        /// The time after the start in which no device counts as absent: devices need time to reconnect.
        package var timeToReturn = Duration.seconds(3600)

        /// The cell number in device tokens; 0 where there is one server.
        package var cell: UInt16 = 0
        /// The maximum number of connected devices whose broadcasts one transaction processes.
        package var visitLimit = 512

        /// Creates settings with the defaults of the properties.
        package init() {}
    }

    /// The executor of the service's event loop: code on the loop enters the actor by `assumeIsolated`.
    nonisolated package var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }

    /// Creates a service over a store, and makes its ceiling of ids durable; ``start()`` begins the periodic tasks.
    ///
    /// - Parameters:
    ///   - node: This server's number in its ids, `0 ... 511`; a ``NodeStore`` has its own.
    ///   - carrier: Carries messages to other nodes; `nil` for a server that is alone.
    ///   - loop: An event loop for the service alone: it blocks for the store.
    ///   - apps: The directory that names the apps in metrics.
    ///   - lists: The source of the members of broadcasts' lists.
    ///   - received: Follows the states of notifications after each commit.
    /// - Throws: An error when the store cannot be read or written.
    package init(
        store: any NotificationStore, node: UInt16, loop: any EventLoop, settings: Settings, apps: AppDirectory? = nil,
        lists: (any RecipientLists)? = nil, received: ReceivedRequests? = nil, carrier: (any NodeCarrier)? = nil,
        clock: @escaping @Sendable () -> Timestamp, logger: Logger
    ) throws {
        self.store = store
        self.loop = loop
        self.settings = settings
        self.apps = apps
        self.lists = lists
        self.received = received
        queue = MailboxCommandQueue(bulkLimit: settings.bulkLimit)
        self.clock = clock
        self.logger = logger
        refusals = RefusalLog(logger: logger, at: clock())
        (upkeep.startedAt, upkeep.devicesNotedAt) = (clock(), clock())
        nodes = (store as? any NodeStore).map { NodePorts(store: $0, carrier: carrier ?? OneNodeCarrier()) }
        ids = try NotificationIDSource(store: store, node: nodes?.store.node ?? node, clock: clock)
    }

    /// The number of mailboxes in memory.
    var residentMailboxes: Int { residents.mailboxes.count }

    // MARK: Entry, from any thread

    /// The time of the clock that the service was given.
    nonisolated package var now: Timestamp { clock() }

    nonisolated func submit(_ command: MailboxCommand) -> Bool {
        let push = queue.enqueue(command)
        wake(push)
        if case .full = push { return false }
        return true
    }

    /// Wakes the writer where a push requires it.
    nonisolated func wake(_ push: MailboxCommandQueue.EnqueueResult) {
        guard case .wake = push else { return }
        loop.execute { self.assumeIsolated { $0.drain() } }
    }

    /// Delivers to the device's connection, on this thread, and queues the timeline; `nil` when no id can be made now.
    nonisolated func attempt(_ acceptance: AcceptedNotification) -> NotificationID? {
        let now = clock()
        guard !nodeStatus.isCutOff.load(ordering: .relaxed), let id = ids.next(now: now) else { return nil }
        let connection = presence.connection(of: acceptance.subject.device)
        if connection == nil, nodes != nil {
            let record = Self.record(acceptance, id: id, now: now, expiresAt: nil)
            attemptElsewhere(NodeAttempt(record, team: acceptance.app.team, topic: acceptance.app.topic))
            return id
        }
        let push = queue.enqueue(
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

    /// Queues the refusal for its timeline; the topic is cut to 255 characters.
    nonisolated package func recordRefusal(
        code: String, note: String?, team: TeamID, topic: String, apnsID: APNsID?
    ) -> NotificationID? {
        let now = clock()
        guard let id = ids.next(now: now) else { return nil }
        refusals.refused(id, reason: code, team: team, topic: topic.prefix(255), at: now)
        scheduleNotes(
            queue.enqueue(
                note: {
                    .refused(
                        RefusalRecord(
                            id: id, team: team, topic: String(topic.prefix(255)), apnsID: apnsID, at: now,
                            code: code, note: note))
                }, id: id, team: team))
        return id
    }

    nonisolated func scheduleNotes(_ push: MailboxCommandQueue.EnqueueResult) {
        guard case .wake = push else { return }
        loop.execute { self.assumeIsolated { $0.writeNotes() } }
    }

    // MARK: The writer

    func drain() {
        guard drainOnce() else { return }
        loop.execute { self.assumeIsolated { $0.drain() } }
    }

    /// Processes one batch of queued commands; `false` when there was none, or the store failed.
    ///
    /// After a failed commit all other queued commands fail too, so that none overtakes the deferred ones.
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

    /// Processes commands that an earlier batch deferred, before any later ones; `false` when the store still fails.
    private func processDeferred() -> Bool {
        while !retries.deferred.isEmpty {
            let commands = retries.deferred
            retries.deferred = []
            let batch = Array(commands.prefix(settings.batchLimit))
            do {
                try process(batch)
                retries.deferred = Array(commands.dropFirst(batch.count))
            } catch {
                failed(commands + queue.takeEverything(), error)
                return false
            }
        }
        return true
    }

    private func process(_ commands: [MailboxCommand]) throws {
        var attempt = 1
        while true {
            do { return try processOnce(commands) } catch let error as any StoreFailure
                where error.isConflict && attempt < Self.conflictLimit
            {
                attempt += 1
                NodeMetrics.recordConflict()
            }
        }
    }

    /// The number of times that a batch is tried whose transaction conflicts with another node's.
    private static let conflictLimit = 5

    private func processOnce(_ commands: [MailboxCommand]) throws {
        let notes =
            commands.contains(where: \.looksAtNotes) ? queue.takeNotes(limit: MailboxCommandQueue.noteLimit) : []
        var batch = MailboxBatch()
        do {
            try withHealthTracking {
                try ids.renew()
                try prefetch(commands, &batch)
                for queued in notes { batch.write(queued) }
                endLostSessions(&batch)
                for command in commands { decide(command, &batch) }
                // Commands that change only memory need no commit, and no caller waits for one.
                if !batch.changes.isEmpty { try metrics.committing { try store.apply(batch.changes) } }
            }
        } catch {
            nodes?.store.abandon()
            if (error as? any StoreFailure)?.isConflict != true { handleFailure(of: batch) }
            queue.restore(notes)
            counts.sentLines.failed()
            endBatch { $0.failed() }
            throw error
        }
        queue.committed(notes)
        received?.committed(batch.changes)
        feed.committed(batch.changes)
        counts.sentLines.committed()
        if batch.changes.isEmpty { nodes?.store.abandon() } else { enter(rows: batch.rows, &batch.effects) }
        for change in batch.effects.sessionChanges { enter(change) }
        endBatch { $0.committed() }
        batch.effects.release()
        announce(batch.effects.messages(by: batch.rows))
        metrics.accepted(commands)
        for (line, app) in batch.extended {
            counts.extensionCounts.count(line, of: app.flatMap { apps?.lastKnown($0) })
        }
        deliverNext()
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
            try withHealthTracking {
                try ids.renew()
                try store.apply(batch.changes)
            }
            queue.committed(notes)
            received?.committed(batch.changes)
            feed.committed(batch.changes)
            let lost = unrecorded.values.reduce(0) { $0 + $1.count }
            if lost > 0 { Counter(label: "aldaba_timelines_not_recorded_total").increment(by: lost) }
        } catch {
            retries.failures += 1
            logger.error("timelines could not be written yet", metadata: [LogKey.error: "\(error)"])
            queue.restore(notes, unrecorded)
            pause = settings.retryPause
        }
        guard !upkeep.isStopped else { return }
        loop.scheduleTask(in: pause) { self.assumeIsolated { $0.writeNotes() } }
    }

    /// Keeps memory bounded: mailboxes of devices without a session can be read again when needed.
    private func forgetAbsentDevices() {
        guard residents.residentEntries > settings.residentLimit, clock() >= residents.nothingToForgetUntil else {
            return
        }
        for (device, resident) in residents.mailboxes where connections.sessions[device] == nil {
            residents.residentEntries -= resident.count
            residents.mailboxes[device] = nil
            if residents.residentEntries <= settings.residentLimit / 2 { return }
        }
        // All remaining mailboxes belong to connected devices; another search at once would find the same.
        residents.nothingToForgetUntil = clock() + .seconds(1)
    }
}
