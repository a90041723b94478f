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

    private struct State {
        var acceptances = CircularBuffer<MailboxCommand>()
        var others = CircularBuffer<MailboxCommand>()
        var notes: [QueuedNote] = []
        /// The ids of notes that are not committed: queued, or taken and being written.
        var uncommitted: Set<NotificationID> = []
        var unrecorded: [TeamID: Unrecorded] = [:]
        var isDraining = false
        var areNotesScheduled = false

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

    private let state = Mutex(State())

    /// Whether nothing is queued.
    var isEmpty: Bool {
        state.withLock { $0.acceptances.isEmpty && $0.others.isEmpty && $0.notes.isEmpty && $0.unrecorded.isEmpty }
    }

    /// Whether a note is queued, or taken and not committed yet.
    var hasUncommittedNotes: Bool { state.withLock { !$0.uncommitted.isEmpty } }

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
    func push(note make: () -> TimelineNote, id: NotificationID, team: TeamID) -> Push {
        state.withLock { state in
            guard state.notes.count < Self.noteLimit else {
                state.count(id, of: team)
                return .full
            }
            state.notes.append(QueuedNote(note: make(), id: id, team: team))
            state.uncommitted.insert(id)
            guard !state.areNotesScheduled else { return .queued }
            state.areNotesScheduled = true
            return .wake
        }
    }

    /// Takes at most `limit` notes.
    func takeNotes(limit: Int) -> [QueuedNote] {
        state.withLock { state in
            let taken = Array(state.notes.prefix(limit))
            state.notes.removeFirst(taken.count)
            return taken
        }
    }

    /// Takes at most `limit` notes and what was counted instead of noted. Empty puts the note writer to sleep.
    func takeNotesAndCounts(limit: Int) -> (notes: [QueuedNote], unrecorded: [TeamID: Unrecorded]) {
        state.withLock { state in
            let taken = Array(state.notes.prefix(limit))
            state.notes.removeFirst(taken.count)
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
            state.notes.insert(contentsOf: notes.prefix(room), at: 0)
            for note in notes.dropFirst(room) {
                state.uncommitted.remove(note.id)
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
