import Synchronization

/// A task that is cancelled when another takes its place.
final class Alarm: Sendable {
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Takes the place of the task before.
    func set(_ new: Task<Void, Never>?) {
        let old = task.withLock { task in
            defer { task = new }
            return task
        }
        old?.cancel()
    }
}
