import NIOCore
import PushModel
import Synchronization

/// The way from every thread to the one writer. Thread-safe and bounded.
///
/// There are two lanes, acceptances and everything else, each in order. A batch takes a share of both, so that
/// neither keeps the other waiting: what devices report cannot hold up providers.
///
/// Acceptances are refused beyond ``acceptanceLimit``; notes are dropped, counted by team, beyond
/// ``noteLimit``. The other commands are bounded by what causes them: sessions and their windows.
///
/// What becomes of an attempt (TTL 0) is added to its note while that is queued, so that most attempts are written
/// once, whole; ``attemptLimit`` of them are kept track of.
final class CommandQueue: Sendable {
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

    private let state = Mutex(State())

    /// Whether nothing is queued.
    var isEmpty: Bool {
        state.withLock { $0.acceptances.isEmpty && $0.others.isEmpty && $0.notes.isEmpty && $0.unrecorded.isEmpty }
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

    /// Takes the next batch: at most `limit` acceptances, and others whose weights sum up to about as much. An
    /// empty answer puts the writer to sleep.
    func takeBatch(limit: Int) -> [MailboxCommand] {
        state.withLock { state in
            var batch: [MailboxCommand] = []
            var weight = 0
            while weight < limit, let command = state.others.popFirst() {
                weight += command.weight
                batch.append(command)
            }
            let count = min(limit, state.acceptances.count)
            batch.append(contentsOf: state.acceptances.prefix(count))
            state.acceptances.removeFirst(count)
            if batch.isEmpty { state.isDraining = false }
            return batch
        }
    }

    /// Takes everything that is queued and puts the writer to sleep.
    func takeEverything() -> [MailboxCommand] {
        state.withLock { state in
            state.isDraining = false
            defer {
                state.others.removeAll()
                state.acceptances.removeAll()
            }
            return Array(state.others) + Array(state.acceptances)
        }
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
        state.withLock { ($0.acceptances.count + $0.others.count, $0.notes.count) }
    }
}
