import PushModel

/// The changes that are committed together next, and who waits for that.
///
/// Guarantees: changes stay in order; of a batch that could not be committed, what nobody would say again stays, at the
/// head of the next batch and at most ``keptLimit`` of it.
package struct ChangeBatch<Waiting: Sendable>: Sendable {
    /// How many changes stay over failed commits.
    package static var keptLimit: Int { 1_000 }

    package private(set) var changes: [StoreChange] = []
    /// The notifications that arrive with it.
    package private(set) var arriving: Set<NotificationID> = []
    /// Files that leave their places once the changes are durable.
    package private(set) var filesToDelete: [String] = []
    private var waiting: [Waiting] = []
    /// Whether a commit is on its way.
    private var isScheduled = false

    package init(changes: [StoreChange] = [], arriving: Set<NotificationID> = [], filesToDelete: [String] = []) {
        self.changes = changes
        self.arriving = arriving
        self.filesToDelete = filesToDelete
    }

    /// Whether there is nothing to commit.
    package var isEmpty: Bool { changes.isEmpty }

    /// Whether it holds what is tried again after a failed commit.
    package var holdsWhatIsKept: Bool { changes.contains(where: \.isKeptAfterFailure) }

    /// Adds a change.
    ///
    /// - Returns: Whether a commit has to be scheduled for it.
    package mutating func add(_ change: StoreChange) -> Bool {
        changes.append(change)
        if let id = change.arriving { arriving.insert(id) }
        defer { isScheduled = true }
        return !isScheduled
    }

    /// Has files deleted once the changes are durable.
    package mutating func delete(_ files: [String]) { filesToDelete += files }

    /// Somebody waits for the changes to be durable.
    package mutating func wait(_ somebody: Waiting) { waiting.append(somebody) }

    /// Who waited, in order; they wait no longer.
    package mutating func takeWaiting() -> [Waiting] {
        defer { waiting = [] }
        return waiting
    }

    /// Begins a new batch; who waits stays until the commit is done.
    ///
    /// - Returns: What is to be committed, and the files to delete then.
    package mutating func take() -> (changes: [StoreChange], filesToDelete: [String]) {
        defer { (changes, arriving, filesToDelete, isScheduled) = ([], [], [], false) }
        return (changes, filesToDelete)
    }

    /// A batch could not be committed.
    ///
    /// - Returns: Whether something of it stays, for which a commit has to be scheduled.
    package mutating func failed(_ batch: [StoreChange]) -> Bool {
        waiting = []
        changes = Array(batch.lazy.filter(\.isKeptAfterFailure).prefix(Self.keptLimit)) + changes
        isScheduled = !changes.isEmpty
        return isScheduled
    }
}
