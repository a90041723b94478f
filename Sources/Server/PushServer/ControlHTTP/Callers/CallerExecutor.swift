/// Runs tasks among the requests of callers, counted for one caller.
package final class CallerExecutor: TaskExecutor {
    /// The server's own long work, such as the sends of hubs.
    package static let background = CallerExecutor(.background, workers: .shared)

    private let caller: Caller
    private let workers: FairWorkers

    init(_ caller: Caller, workers: FairWorkers) {
        self.caller = caller
        self.workers = workers
    }

    /// Queues a part of a task.
    package func enqueue(_ job: consuming ExecutorJob) {
        workers.enqueue(UnownedJob(job), of: caller, on: self)
    }
}
