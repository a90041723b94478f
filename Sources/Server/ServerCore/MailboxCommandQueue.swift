import NIOCore
import PushModel
import Synchronization

/// The way from every thread to the one writer. Thread-safe and bounded.
///
/// There are three lanes, each in order: acceptances that come one at a time, those that come in bulk, and everything
/// else. A batch takes a share of each, so that none keeps another waiting: what devices report cannot hold up
/// providers, and a campaign holds up neither.
///
/// Acceptances are refused beyond ``acceptanceLimit``; those in bulk wait with their caller beyond ``bulkLimit``; notes
/// are dropped, counted by team, beyond ``noteLimit``. The other commands are bounded by what causes them: sessions and
/// their windows.
///
/// What becomes of an attempt (TTL 0) is added to its note while that is queued, so that most attempts are written
/// once, whole; ``attemptLimit`` of them are kept track of.
final class MailboxCommandQueue: Sendable {
    /// How many timelines of a team were not recorded, and between which ids.
    struct Unrecorded: Sendable {
        var first: NotificationID
        var last: NotificationID
        var count: Int
    }

    /// A note with what it would be counted under if it could not be written.
    struct QueuedNote: Sendable {
        var note: TimelineNote
        var id: NotificationID
        var team: TeamID
    }

    /// An attempt whose end is not known yet.
    private struct OpenAttempt {
        var team: TeamID
        /// The number of its note, counted from the first one ever queued; it is queued while that is not below
        /// ``State/firstNote``.
        var note: UInt64
    }

    private struct State {
        var acceptances = CircularBuffer<MailboxCommand>()
        var bulk = CircularBuffer<MailboxCommand>()
        /// Who waits for room in the bulk lane: one for each list that is being accepted.
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter: UInt64 = 0
        /// Nothing more is taken in bulk.
        var isBulkEnded = false
        var others = CircularBuffer<MailboxCommand>()
        var notes = CircularBuffer<QueuedNote>()
        /// The number of the first queued note.
        var firstNote: UInt64 = 0
        var openAttempts: [NotificationID: OpenAttempt] = [:]
        /// The ids of notes that are not committed: queued, or taken and being written.
        var uncommitted: Set<NotificationID> = []
        var unrecorded: [TeamID: Unrecorded] = [:]
        var isDraining = false
        var areNotesScheduled = false

        /// Takes out everyone who waits; the caller lets them go on once it has given the lock back.
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
    /// How many acceptances of a list are queued at once.
    private static let bulkChunk = 128

    /// How many acceptances may be queued in bulk; at least 1.
    let bulkLimit: Int
    private let state = Mutex(State())

    init(bulkLimit: Int = 1024) { self.bulkLimit = max(1, bulkLimit) }

    /// Whether nothing is queued.
    var isEmpty: Bool {
        state.withLock {
            $0.acceptances.isEmpty && $0.bulk.isEmpty && $0.others.isEmpty && $0.notes.isEmpty && $0.unrecorded.isEmpty
        }
    }

    /// Those of the ids whose notes are not committed yet.
    func uncommitted(_ ids: some Sequence<NotificationID>) -> Set<NotificationID> {
        state.withLock { state in
            state.uncommitted.isEmpty ? [] : Set(ids.lazy.filter(state.uncommitted.contains))
        }
    }

    /// What a push asks its caller to do.
    enum Push {
        case queued
        /// The writer is asleep: wake it.
        case wake
        case full
    }

    func push(_ command: MailboxCommand) -> Push {
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

    /// Takes the next batch: at most `limit` acceptances, others whose weights sum up to about as much, and of those in
    /// bulk what the single ones leave of the limit, or a quarter of it. An empty answer puts the writer to sleep.
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

    /// Takes everything that is queued and puts the writer to sleep.
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

    /// Queues a note, or counts it for its team when there is no room.
    ///
    /// - Parameter isOpen: Whether ``attempts(_:became:at:)`` will tell what became of it.
    func push(note make: () -> TimelineNote, id: NotificationID, team: TeamID, isOpen: Bool = false) -> Push {
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

    /// Adds what became of attempts to their timelines; those that are not recorded are passed over.
    func attempts(_ ids: [NotificationID], became event: AttemptEvent, at now: Timestamp) -> Push {
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

    /// Takes at most `limit` notes and what was counted instead of noted. Empty puts the note writer to sleep.
    func takeNotesAndCounts(limit: Int) -> (notes: [QueuedNote], unrecorded: [TeamID: Unrecorded]) {
        state.withLock { state in
            let taken = state.take(limit)
            defer { state.unrecorded = [:] }
            if taken.isEmpty && state.unrecorded.isEmpty { state.areNotesScheduled = false }
            return (taken, state.unrecorded)
        }
    }

    /// Notes that were taken are durable.
    func committed(_ notes: [QueuedNote]) {
        guard !notes.isEmpty else { return }
        state.withLock { state in
            for note in notes { state.uncommitted.remove(note.id) }
        }
    }

    /// Gives back what was taken and could not be written: to its place in front, or, where there is no room, to
    /// the count of what was not recorded. Whoever gives back sees to it that it is taken again.
    func putBack(_ notes: [QueuedNote], _ unrecorded: [TeamID: Unrecorded] = [:]) {
        state.withLock { state in
            let room = max(0, Self.noteLimit - state.notes.count)
            for note in notes.prefix(room).reversed() { state.notes.prepend(note) }
            state.firstNote -= UInt64(min(room, notes.count))
            for note in notes.dropFirst(room) {
                state.uncommitted.remove(note.id)
                state.openAttempts[note.id] = nil
                state.count(note.id, of: note.team)
            }
            for (team, more) in unrecorded { state.count(more, of: team) }
        }
    }

    /// How many commands and notes are queued.
    var counts: (commands: Int, notes: Int) {
        state.withLock { ($0.acceptances.count + $0.bulk.count + $0.others.count, $0.notes.count) }
    }
}

// MARK: - In bulk

extension MailboxCommandQueue {
    /// Queues some acceptances of a list of those that are stored, from the first one on, at most as many as there is room for.
    func push(bulk acceptances: ArraySlice<Acceptance>, sink: any AcceptanceSink) -> (count: Int, push: Push) {
        // Made before the lock is taken: whoever has a single one waits for that.
        let commands = acceptances.prefix(Self.bulkChunk).map { MailboxCommand.accept(QueuedAcceptance($0, sink)) }
        return state.withLock { state in
            let room = state.isBulkEnded ? 0 : bulkLimit - state.bulk.count
            let taken = commands.prefix(max(0, room))
            guard !taken.isEmpty else { return (0, .full) }
            state.bulk.append(contentsOf: taken)
            guard !state.isDraining else { return (taken.count, .queued) }
            state.isDraining = true
            return (taken.count, .wake)
        }
    }

    /// Waits until there may be room in the bulk lane; whoever comes first takes it.
    ///
    /// - Returns: `false` when the task was cancelled, or the lane has ended.
    func waitForRoom() async -> Bool {
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
            // A task that is cancelled later finds its continuation here; one that was cancelled before does not wait.
            guard !Task.isCancelled, !state.isBulkEnded, state.bulk.count >= bulkLimit else { return false }
            state.waiters[number] = continuation
            return true
        }
        if !isWaiting { continuation.resume() }
    }

    /// Takes nothing more in bulk; who waits for room goes on without.
    func endBulk() {
        let waiters = state.withLock { state in
            state.isBulkEnded = true
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }
}
