import PushModel
import Synchronization

/// The way from every thread to the one writer. Thread-safe and bounded.
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

    private struct State {
        var commands: [MailboxCommand] = []
        var acceptances = 0
        var notes: [TimelineNote] = []
        var unrecorded: [TeamID: Unrecorded] = [:]
        var isDraining = false
        var areNotesScheduled = false
    }

    static let acceptanceLimit = 32_768
    static let noteLimit = 8_192

    private let state = Mutex(State())

    /// Whether nothing is queued.
    var isEmpty: Bool { state.withLock { $0.commands.isEmpty && $0.notes.isEmpty && $0.unrecorded.isEmpty } }

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
                guard state.acceptances < Self.acceptanceLimit else { return .full }
                state.acceptances += 1
            }
            state.commands.append(command)
            guard !state.isDraining else { return .queued }
            state.isDraining = true
            return .wake
        }
    }

    /// Takes everything that is queued, in order. An empty answer puts the writer to sleep.
    func takeCommands() -> [MailboxCommand] {
        state.withLock { state in
            if state.commands.isEmpty { state.isDraining = false }
            state.acceptances = 0
            defer { state.commands = [] }
            return state.commands
        }
    }

    /// Queues a note, or counts it for its team when there is no room.
    func push(note make: () -> TimelineNote, id: NotificationID, team: TeamID) -> Push {
        state.withLock { state in
            guard state.notes.count < Self.noteLimit else {
                var entry = state.unrecorded[team] ?? Unrecorded(first: id, last: id, count: 0)
                entry.first = min(entry.first, id)
                entry.last = max(entry.last, id)
                entry.count += 1
                state.unrecorded[team] = entry
                return .full
            }
            state.notes.append(make())
            guard !state.areNotesScheduled else { return .queued }
            state.areNotesScheduled = true
            return .wake
        }
    }

    /// Takes at most `limit` notes.
    func takeNotes(limit: Int) -> [TimelineNote] {
        state.withLock { state in
            let taken = Array(state.notes.prefix(limit))
            state.notes.removeFirst(taken.count)
            return taken
        }
    }

    /// Takes at most `limit` notes and what was counted instead of noted. Empty puts the note writer to sleep.
    func takeNotesAndCounts(limit: Int) -> (notes: [TimelineNote], unrecorded: [TeamID: Unrecorded]) {
        state.withLock { state in
            let taken = Array(state.notes.prefix(limit))
            state.notes.removeFirst(taken.count)
            defer { state.unrecorded = [:] }
            if taken.isEmpty && state.unrecorded.isEmpty { state.areNotesScheduled = false }
            return (taken, state.unrecorded)
        }
    }
}
