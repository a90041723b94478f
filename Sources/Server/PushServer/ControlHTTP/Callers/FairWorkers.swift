import NIOCore
import NIOPosix
import Synchronization

/// The threads that run the handlers of requests, shared fairly between callers.
///
/// One caller occupies at most half of the processor's cores, and callers are served in rotation. There are more threads
/// than cores, so that long work of several callers leaves a thread for the next one, and the system divides the cores.
final class FairWorkers: Sendable {
    /// The workers of this process.
    static let shared = FairWorkers(cores: System.coreCount)

    private struct Job {
        var job: UnownedJob
        /// Kept for as long as its job runs.
        var executor: any TaskExecutor
    }

    private struct State {
        var queue: FairQueue<Caller, Job>
        /// The number of threads that run jobs now.
        var active = 0
    }

    private let threads: Int
    private let pool: NIOThreadPool
    private let state: Mutex<State>

    /// Starts the threads of a machine with a number of cores.
    init(cores: Int) {
        threads = max(8, 4 * cores)
        pool = NIOThreadPool(numberOfThreads: threads)
        state = Mutex(State(queue: FairQueue(perCaller: max(1, cores / 2))))
        pool.start()
    }

    /// Queues a job of a caller.
    func enqueue(_ job: UnownedJob, of caller: Caller, on executor: any TaskExecutor) {
        let needsThread = state.withLock { state in
            state.queue.append(Job(job: job, executor: executor), of: caller)
            guard state.active < threads, state.queue.hasNext else { return false }
            state.active += 1
            return true
        }
        if needsThread { pool.submit { [self] _ in work() } }
    }

    /// Runs jobs until none may begin.
    private func work() {
        var finished: Caller?
        while true {
            let next = state.withLock { state in
                if let finished { state.queue.finish(finished) }
                let next = state.queue.next()
                if next == nil { state.active -= 1 }
                return next
            }
            guard let next else { return }
            next.entry.job.runSynchronously(on: next.entry.executor.asUnownedTaskExecutor())
            finished = next.caller
        }
    }
}
