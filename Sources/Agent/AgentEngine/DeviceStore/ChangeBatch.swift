import PushCore

/// The changes that are committed together next, and the callers that wait for their commit.
///
/// Guarantees: changes stay in order. When a commit fails, the changes that no caller would repeat stay, at most
/// ``keptLimit`` of them, at the head of the next batch (``StoreChange/isKeptAfterFailure``).
package struct ChangeBatch<Waiting: Sendable>: Sendable {
    /// How many changes of a failed commit stay.
    package static var keptLimit: Int { 1_000 }

    /// The changes of the next commit, in order.
    package private(set) var changes: [StoreChange] = []
    /// The notifications that arrive with the batch.
    package private(set) var arriving: Set<NotificationID> = []
    /// The messages that are opened with the batch, by their fingerprints, and the notifications that bring them.
    package private(set) var opening: [[UInt8]: NotificationID] = [:]
    /// Files that leave their places once the changes are durable.
    package private(set) var filesToDelete: [String] = []
    private var waiting: [Waiting] = []
    /// Whether a commit is scheduled.
    private var isScheduled = false

    /// An empty batch, unless told otherwise; no caller waits for it.
    package init(changes: [StoreChange] = [], arriving: Set<NotificationID> = [], filesToDelete: [String] = []) {
        self.changes = changes
        self.arriving = arriving
        self.filesToDelete = filesToDelete
    }

    /// Whether there is nothing to commit.
    package var isEmpty: Bool { changes.isEmpty }

    /// Whether the batch has a change that is tried again after a failed commit.
    package var holdsWhatIsKept: Bool { changes.contains(where: \.isKeptAfterFailure) }

    /// Adds a change.
    ///
    /// - Returns: Whether a commit has to be scheduled for it.
    package mutating func add(_ change: StoreChange) -> Bool {
        changes.append(change)
        if let id = change.arriving { arriving.insert(id) }
        if let opening = change.opening { self.opening[opening.fingerprint] = opening.notification }
        defer { isScheduled = true }
        return !isScheduled
    }

    /// Has files deleted once the changes are durable.
    package mutating func delete(_ files: [String]) { filesToDelete += files }

    /// Adds a caller that waits until the changes are durable.
    package mutating func wait(_ somebody: Waiting) { waiting.append(somebody) }

    /// Returns who waits, in order; they wait no longer.
    package mutating func takeWaiting() -> [Waiting] {
        defer { waiting = [] }
        return waiting
    }

    /// Begins a new batch. The waiting callers stay, until ``takeWaiting()``.
    ///
    /// - Returns: The changes to commit, and the files to delete after the commit.
    package mutating func take() -> (changes: [StoreChange], filesToDelete: [String]) {
        defer { (changes, arriving, opening, filesToDelete, isScheduled) = ([], [], [:], [], false) }
        return (changes, filesToDelete)
    }

    /// A batch could not be committed. The waiting callers are forgotten.
    ///
    /// - Returns: Whether there are changes, for which a commit has to be scheduled.
    package mutating func failed(_ batch: [StoreChange]) -> Bool {
        waiting = []
        changes = Array(batch.lazy.filter(\.isKeptAfterFailure).prefix(Self.keptLimit)) + changes
        isScheduled = !changes.isEmpty
        return isScheduled
    }
}
