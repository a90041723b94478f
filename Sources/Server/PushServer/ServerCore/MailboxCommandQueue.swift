import NIOCore
import PushCore
import Synchronization

/// The queue from every thread to the one writer. Thread-safe and bounded.
///
/// There are three lanes, each in order: single acceptances, bulk acceptances, and all other commands. A batch takes a
/// share of each, so that none delays another: devices' reports cannot delay providers, and a campaign delays neither.
///
/// Acceptances are refused beyond ``acceptanceLimit``; bulk acceptances wait in their caller beyond ``bulkLimit``;
/// notes are dropped, counted by team, beyond ``noteLimit``. The other commands are bounded by their sources: sessions
/// and their windows.
///
/// The outcome of an attempt (TTL 0) is added to its note while that is queued, so that most attempts are written once,
/// whole. At most ``attemptLimit`` of them are tracked.
final class MailboxCommandQueue: Sendable {
    /// The number of a team's timelines that were not recorded, and the range of their ids.
    struct Unrecorded: Sendable {
        var first: NotificationID
        var last: NotificationID
        var count: Int
    }

    /// A note, with the team and id under which it is counted if it cannot be written.
    struct QueuedNote: Sendable {
        var note: TimelineNote
        var id: NotificationID
        var team: TeamID
    }

    /// An attempt whose end is not known yet.
    private struct OpenAttempt {
        var team: TeamID
        /// The number of its note, counted from the first one ever queued. The note is queued while the number is not
        /// below ``State/firstNote``.
        var note: UInt64
    }

    private struct State {
        var acceptances = CircularBuffer<MailboxCommand>()
        var bulk = CircularBuffer<MailboxCommand>()
        /// The tasks that wait for space in the bulk lane: one for each list that is being accepted.
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter: UInt64 = 0
        /// Whether the bulk lane takes no more acceptances.
        var isBulkEnded = false
        var others = CircularBuffer<MailboxCommand>()
        var notes = CircularBuffer<QueuedNote>()
        /// The number of the first queued note.
        var firstNote: UInt64 = 0
        var openAttempts: [NotificationID: OpenAttempt] = [:]
        /// The ids of notes that are not committed: queued, or being written.
        var uncommitted: Set<NotificationID> = []
        var unrecorded: [TeamID: Unrecorded] = [:]
        var isDraining = false
        var areNotesScheduled = false

        /// Removes all waiting tasks; the caller resumes them after it has released the lock.
        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            guard !waiters.isEmpty else { return [] }
            defer { waiters = [:] }
            return Array(waiters.values)
        }

        mutating func append(_ note: QueuedNote) {
            notes.append(note)
            uncommitted.insert(note.id)
        }

        mutating func take(_ limit: Int) -> [QueuedNote] {
            let taken = Array(notes.prefix(limit))
            notes.removeFirst(taken.count)
            firstNote += UInt64(taken.count)
            return taken
        }

        mutating func count(_ id: NotificationID, of team: TeamID) {
            count(Unrecorded(first: id, last: id, count: 1), of: team)
        }

        mutating func count(_ more: Unrecorded, of team: TeamID) {
            guard var entry = unrecorded[team] else { return unrecorded[team] = more }
            entry.first = min(entry.first, more.first)
            entry.last = max(entry.last, more.last)
            entry.count += more.count
            unrecorded[team] = entry
        }
    }

    static let acceptanceLimit = 32_768
    static let noteLimit = 8_192
    static let attemptLimit = 65_536
    /// The maximum number of acceptances of a list that are queued at once.
    private static let bulkChunk = 128

    /// The maximum number of queued bulk acceptances; at least 1.
    let bulkLimit: Int
    private let state = Mutex(State())

    init(bulkLimit: Int = 1024) { self.bulkLimit = max(1, bulkLimit) }

    /// Whether nothing is queued.
    var isEmpty: Bool {
        state.withLock {
            $0.acceptances.isEmpty && $0.bulk.isEmpty && $0.others.isEmpty && $0.notes.isEmpty && $0.unrecorded.isEmpty
        }
    }

    /// The subset of the ids whose notes are not committed yet.
    func uncommitted(_ ids: some Sequence<NotificationID>) -> Set<NotificationID> {
        state.withLock { state in
            state.uncommitted.isEmpty ? [] : Set(ids.lazy.filter(state.uncommitted.contains))
        }
    }

    /// The action that a push requires of its caller.
    enum EnqueueResult {
        case queued
        /// The writer is idle: the caller must wake it.
        case wake
        case full
    }

    func enqueue(_ command: MailboxCommand) -> EnqueueResult {
        state.withLock { state in
            if case .accept = command {
                guard state.acceptances.count < Self.acceptanceLimit else { return .full }
                state.acceptances.append(command)
            } else {
                state.others.append(command)
            }
            guard !state.isDraining else { return .queued }
            state.isDraining = true
            return .wake
        }
    }

    /// Takes the next batch: at most `limit` acceptances, and other commands whose weights sum up to about as much. Of
    /// bulk acceptances it takes the rest of the limit, or a quarter of it. An empty result puts the writer to sleep.
    func takeBatch(limit: Int) -> [MailboxCommand] {
        let (batch, waiters) = state.withLock { state in
            var batch: [MailboxCommand] = []
            var weight = 0
            while weight < limit, let command = state.others.popFirst() {
                weight += command.weight
                batch.append(command)
            }
            let count = min(limit, state.acceptances.count)
            batch.append(contentsOf: state.acceptances.prefix(count))
            state.acceptances.removeFirst(count)
            if !state.bulk.isEmpty {
                let share = min(max(limit - count, limit / 4, 1), state.bulk.count)
                batch.append(contentsOf: state.bulk.prefix(share))
                state.bulk.removeFirst(share)
            }
            if batch.isEmpty { state.isDraining = false }
            return (batch, state.bulk.count < bulkLimit ? state.takeWaiters() : [])
        }
        for waiter in waiters { waiter.resume() }
        return batch
    }

    /// Takes all queued commands and puts the writer to sleep.
    func takeEverything() -> [MailboxCommand] {
        let (commands, waiters) = state.withLock { state in
            state.isDraining = false
            defer {
                state.others.removeAll()
                state.acceptances.removeAll()
                state.bulk.removeAll()
            }
            return (Array(state.others) + Array(state.acceptances) + Array(state.bulk), state.takeWaiters())
        }
        for waiter in waiters { waiter.resume() }
        return commands
    }

    /// Queues a note, or counts it for its team when the queue is full.
    ///
    /// - Parameter isOpen: Whether ``attempts(_:became:at:)`` will report its outcome.
    func enqueue(note make: () -> TimelineNote, id: NotificationID, team: TeamID, isOpen: Bool = false) -> EnqueueResult
    {
        state.withLock { state in
            guard state.notes.count < Self.noteLimit, !isOpen || state.openAttempts.count < Self.attemptLimit else {
                state.count(id, of: team)
                return .full
            }
            if isOpen {
                state.openAttempts[id] = OpenAttempt(team: team, note: state.firstNote + UInt64(state.notes.count))
            }
            state.append(QueuedNote(note: make(), id: id, team: team))
            guard !state.areNotesScheduled else { return .queued }
            state.areNotesScheduled = true
            return .wake
        }
    }

    /// Adds the outcome of attempts to their timelines; those that are not recorded are ignored.
    func attempts(_ ids: [NotificationID], became event: AttemptEvent, at now: Timestamp) -> EnqueueResult {
        state.withLock { state in
            let entry = event.entry(at: now)
            for id in ids {
                guard let attempt = state.openAttempts[id] else { continue }
                if event.isEnd { state.openAttempts[id] = nil }
                if attempt.note >= state.firstNote {
                    let index = state.notes.index(
                        state.notes.startIndex, offsetBy: Int(attempt.note - state.firstNote))
                    if case .attempted(let record, let entries) = state.notes[index].note, record.id == id {
                        state.notes[index].note = .attempted(record, entries + [entry])
                        continue
                    }
                }
                state.append(QueuedNote(note: .lines([entry]), id: id, team: attempt.team))
            }
            guard !state.notes.isEmpty, !state.areNotesScheduled else { return .queued }
            state.areNotesScheduled = true
            return .wake
        }
    }

    /// Takes at most `limit` notes.
    func takeNotes(limit: Int) -> [QueuedNote] { state.withLock { $0.take(limit) } }

    /// Takes at most `limit` notes and the counts of dropped ones. An empty result puts the note writer to sleep.
    func takeNotesAndCounts(limit: Int) -> (notes: [QueuedNote], unrecorded: [TeamID: Unrecorded]) {
        state.withLock { state in
            let taken = state.take(limit)
            defer { state.unrecorded = [:] }
            if taken.isEmpty && state.unrecorded.isEmpty { state.areNotesScheduled = false }
            return (taken, state.unrecorded)
        }
    }

    /// Removes notes from the uncommitted ones, since they are durable.
    func committed(_ notes: [QueuedNote]) {
        guard !notes.isEmpty else { return }
        state.withLock { state in
            for note in notes { state.uncommitted.remove(note.id) }
        }
    }

    /// Returns notes that were taken and could not be written to the front of the queue, or, where it is full, adds
    /// them to the counts. The caller ensures that they are taken again.
    func restore(_ notes: [QueuedNote], _ unrecorded: [TeamID: Unrecorded] = [:]) {
        state.withLock { state in
            let capacity = max(0, Self.noteLimit - state.notes.count)
            for note in notes.prefix(capacity).reversed() { state.notes.prepend(note) }
            state.firstNote -= UInt64(min(capacity, notes.count))
            for note in notes.dropFirst(capacity) {
                state.uncommitted.remove(note.id)
                state.openAttempts[note.id] = nil
                state.count(note.id, of: note.team)
            }
            for (team, more) in unrecorded { state.count(more, of: team) }
        }
    }

    /// The numbers of queued commands and notes.
    var counts: (commands: Int, notes: Int) {
        state.withLock { ($0.acceptances.count + $0.bulk.count + $0.others.count, $0.notes.count) }
    }
}

// MARK: - Bulk acceptances

extension MailboxCommandQueue {
    /// Queues stored acceptances of a list, from the first one on, at most as many as fit into the queue.
    func enqueue(bulk acceptances: ArraySlice<AcceptedNotification>, sink: any AcceptanceSink) -> (
        count: Int, push: EnqueueResult
    ) {
        // The commands are made before the lock is taken, so that single acceptances do not wait for them.
        let commands = acceptances.prefix(Self.bulkChunk).map { MailboxCommand.accept(QueuedAcceptance($0, sink)) }
        return state.withLock { state in
            let capacity = state.isBulkEnded ? 0 : bulkLimit - state.bulk.count
            let taken = commands.prefix(max(0, capacity))
            guard !taken.isEmpty else { return (0, .full) }
            state.bulk.append(contentsOf: taken)
            guard !state.isDraining else { return (taken.count, .queued) }
            state.isDraining = true
            return (taken.count, .wake)
        }
    }

    /// Waits until the bulk lane may have space; the first caller to push takes it.
    ///
    /// - Returns: `false` when the task was cancelled, or the lane was ended.
    func waitForCapacity() async -> Bool {
        let number = state.withLock { state -> UInt64? in
            guard !state.isBulkEnded, state.bulk.count >= bulkLimit else { return nil }
            state.nextWaiter += 1
            return state.nextWaiter
        }
        if let number {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in wait(number, continuation) }
            } onCancel: {
                state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
            }
        }
        return !Task.isCancelled && !state.withLock { $0.isBulkEnded }
    }

    private func wait(_ number: UInt64, _ continuation: CheckedContinuation<Void, Never>) {
        let isWaiting = state.withLock { state in
            // A task that is cancelled later finds its continuation in `waiters`; one that was cancelled before does
            // not wait.
            guard !Task.isCancelled, !state.isBulkEnded, state.bulk.count >= bulkLimit else { return false }
            state.waiters[number] = continuation
            return true
        }
        if !isWaiting { continuation.resume() }
    }

    /// Ends the bulk lane; tasks that wait for space resume without it.
    func endBulk() {
        let waiters = state.withLock { state in
            state.isBulkEnded = true
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }
}
