import Dispatch

/// A serial queue on which an actor runs.
final class QueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    init(label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

    /// Does something on the queue, after what was put there before.
    func async(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

    /// Does something on the queue after a pause.
    func async(after delay: DispatchTimeInterval, _ work: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + delay, execute: work)
    }
}
