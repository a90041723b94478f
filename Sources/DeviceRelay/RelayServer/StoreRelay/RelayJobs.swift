import Crypto
import Dispatch
import PushServer
import Synchronization

/// The queue of work for the relay's database, in order.
final class RelayJobs: Sendable {
    /// The maximum number of messages that wait to be written, and their maximum size in bytes.
    static let limit = (queuedMessages: 4096, bytes: 16 << 20)
    /// The maximum number of queued jobs of all kinds.
    static let stepLimit = 16_384
    /// The number of jobs in one transaction.
    static let batch = 256

    /// A job for the database. Its completion is called after the commit.
    struct Job: Sendable {
        /// The size of the message that it stores; `nil` for other jobs.
        var size: Int?
        /// The accounts, devices or places whose rows it locks; other servers' jobs with the same ones wait.
        var locks: [[UInt8]] = []
        /// Runs the job, again where it conflicted with another server's transaction, and returns its completion.
        var run: @Sendable (any SQLConnection) throws -> @Sendable () -> Void
        var fail: @Sendable (any Error) -> Void
    }

    private struct State {
        var jobs: [Job] = []
        var isRunning = false
        var queuedMessages = 0
        var bytes = 0
    }

    private let state = Mutex(State())
    /// The thread of the database.
    let queue = DispatchQueue(label: "aldaba.relay")
    /// The queue that calls completions: a completion may hold a lock for which the database's thread must not wait.
    let completionQueue = DispatchQueue(label: "aldaba.messages")

    /// - Returns: Whether the jobs are to be started; `nil` where the queue is full.
    func add(_ job: Job) -> Bool? {
        state.withLock { state in
            guard state.jobs.count < Self.stepLimit else { return nil }
            if let size = job.size {
                guard state.queuedMessages < Self.limit.queuedMessages, state.bytes + size <= Self.limit.bytes else {
                    return nil
                }
                state.queuedMessages += 1
                state.bytes += size
            }
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
    }

    /// The next jobs; empty where there are none.
    func take() -> [Job] {
        state.withLock { state in
            let jobs = Array(state.jobs.prefix(Self.batch))
            state.jobs.removeFirst(jobs.count)
            for case let size? in jobs.map(\.size) {
                state.queuedMessages -= 1
                state.bytes -= size
            }
            if jobs.isEmpty { state.isRunning = false }
            return jobs
        }
    }
}

extension RelayDatabase {
    /// An error: a job was not run.
    private struct QueueLimitExceeded: Error, CustomStringConvertible {
        let description = "too much waits to be written"
    }

    func add(_ job: RelayJobs.Job) {
        guard let begins = jobs.add(job) else {
            return jobs.completionQueue.async { job.fail(QueueLimitExceeded()) }
        }
        if begins { continueJobs() }
    }

    private func continueJobs() {
        jobs.queue.async { [self] in if runJobs() { continueJobs() } }
    }

    /// Runs some of the queued jobs in one transaction. Other work may use the file before the rest is run.
    ///
    /// - Returns: Whether any job was queued.
    func runJobs() -> Bool {
        let jobs = jobs.take()
        guard !jobs.isEmpty else { return false }
        do { try run(jobs) } catch {
            log(error, as: failures.queuedMessages)
            let isConflict = (error as? any StoreFailure)?.isConflict ?? false
            guard isConflict, jobs.count > 1 else {
                self.jobs.completionQueue.async { for job in jobs { job.fail(error) } }
                return true
            }
            // One of them conflicted with other servers' work.
            for job in jobs {
                do { try run([job]) } catch { self.jobs.completionQueue.async { job.fail(error) } }
            }
        }
        return true
    }

    private func run(_ jobs: [RelayJobs.Job]) throws {
        let known = try database.writeBlocking { sql in
            try Self.lock(jobs, sql)
            return try jobs.map { try $0.run(sql) }
        }
        self.jobs.completionQueue.async { for tell in known { tell() } }
    }

    /// Locks what the jobs change, in the same order at every server, so that none waits for one that waits for it.
    private static func lock(_ jobs: [RelayJobs.Job], _ sql: any SQLConnection) throws {
        guard sql.isShared else { return }
        let keys = Set(jobs.flatMap(\.locks).map(Self.key)).sorted()
        _ = try sql.execute("SELECT pg_advisory_xact_lock(?) AS locked", each: keys.map { [$0.parameter] })
    }

    /// Two with the same number exclude each other without need, and nothing else.
    private static func key(_ bytes: [UInt8]) -> Int64 {
        SHA256.hash(data: bytes).withUnsafeBytes { Int64(bigEndian: $0.loadUnaligned(as: Int64.self)) }
    }
}
