import Synchronization

/// A slot for one task: the task in it is cancelled when another is set.
final class Alarm: Sendable {
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Cancels the previous task and keeps the new one; `nil` for none.
    func set(_ new: Task<Void, Never>?) {
        let old = task.withLock { task in
            defer { task = new }
            return task
        }
        old?.cancel()
    }
}
