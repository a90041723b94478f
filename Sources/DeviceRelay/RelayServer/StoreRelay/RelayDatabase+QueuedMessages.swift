import Dispatch
import Foundation
import GRDB
import PushCore
import RelayProtocol
import SQLiteStore
import Synchronization

/// The queue of jobs for queued messages, in order.
final class QueuedMessageJobs: Sendable {
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
        var run: @Sendable (Database, QueuedMessageJobs) throws -> @Sendable () -> Void
        var fail: @Sendable (any Error) -> Void
    }

    struct State {
        var jobs: [Job] = []
        var isRunning = false
        var queuedMessages = 0
        var bytes = 0
        /// The number of the message that was stored last. It only rises, so that a reader of the following numbers
        /// misses none.
        var lastNumber: Int64
    }

    let state: Mutex<State>
    /// The queue that calls completions: a completion may hold a lock for which the database's thread must not wait.
    let completionQueue = DispatchQueue(label: "aldaba.messages")

    init(lastNumber: Int64) { state = Mutex(State(lastNumber: lastNumber)) }

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

    func nextNumber() -> Int64 {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }
}

/// Storage of messages queued for devices that are away.
///
/// Every call returns at once; calls are executed in their order. `complete` is called once, later, on another thread,
/// in that order, and may call the store again.
extension RelayDatabase {
    /// Stores a message after all earlier ones, unless one with the same sender and id is stored for the device.
    package func keep(
        _ queuedMessage: StoredMessage, then complete: @escaping @Sendable (QueuedMessageInsertion) -> Void
    ) {
        let job = QueuedMessageJobs.Job(size: queuedMessage.body.count) { database, jobs in
            let keeping = try Self.insert(queuedMessage, database: database, jobs: jobs)
            return { complete(keeping) }
        } fail: {
            complete(.failed("\($0)"))
        }
        add(job)
    }

    /// Reads the messages for a device of an account after a number, in the order in which they were stored, without
    /// those that have expired by `now`. Reads at most `count` messages, and after the first no more than `bytes`.
    /// `isAll` is whether there are no others; `nil` where they could not be read.
    package func read(
        for device: String, of account: RelayDirectory.AccountID, after number: Int64, count: Int, bytes: Int,
        at now: Timestamp, then complete: @escaping @Sendable ([StoredMessage]?, Bool) -> Void
    ) {
        let job = QueuedMessageJobs.Job { database, _ in
            let (queuedMessages, isAll) = try Self.queuedMessages(
                of: device, account, after: number, count: count, bytes: bytes, at: now, database)
            return { complete(queuedMessages, isAll) }
        } fail: { _ in
            complete(nil, false)
        }
        add(job)
    }

    /// Deletes a message, and completes with whether it was stored; `nil` where that is not known, and it may still be.
    package func remove(_ key: QueuedMessageKey, for device: String, then complete: @escaping @Sendable (Bool?) -> Void)
    {
        let job = QueuedMessageJobs.Job { database, _ in
            let size = try Int.fetchOne(
                database,
                sql: Self.removal + " RETURNING length(body)",
                arguments: [device, key.sender, Data(key.id.bytes)])
            if let size { try Self.lower(device, count: 1, bytes: size, database) }
            return { complete(size != nil) }
        } fail: { _ in
            complete(nil)
        }
        add(job)
    }

    /// Deletes a device's messages, and completes with them, without their bodies.
    package func removeAll(for device: String, then complete: @escaping @Sendable ([StoredMessage]) -> Void) {
        let job = QueuedMessageJobs.Job { database, _ in
            let rows = try Row.fetchAll(
                database,
                sql: "DELETE FROM relay_letter WHERE device = ? RETURNING account, device, sender, id, deadline",
                arguments: [device])
            try database.execute(sql: "DELETE FROM relay_letter_sum WHERE device = ?", arguments: [device])
            let ended = rows.compactMap { Self.queuedMessage($0, body: []) }
            return { complete(ended) }
        } fail: { _ in
            complete([])
        }
        add(job)
    }

    /// Deletes messages that have expired by `now`; completes with some of them, without their bodies, and with the
    /// time at which the next expires.
    package func expire(at now: Timestamp, then complete: @escaping @Sendable ([StoredMessage], Timestamp?) -> Void) {
        let job = QueuedMessageJobs.Job { database, _ in
            let rows = try Row.fetchAll(database, sql: Self.expired, arguments: [now.rawValue])
            for row in rows {
                try database.execute(
                    sql: "DELETE FROM relay_letter WHERE number = ?", arguments: [row["number"] as Int64])
                try Self.lower(row["device"], count: 1, bytes: row["size"], database)
            }
            let next = try Int64.fetchOne(database, sql: "SELECT min(deadline) FROM relay_letter")
            let ended = rows.compactMap { Self.queuedMessage($0, body: []) }
            return { complete(ended, next.map { Timestamp(rawValue: $0) }) }
        } fail: { _ in
            // A failed deletion is repeated in a minute.
            complete([], now.adding(milliseconds: 60_000))
        }
        add(job)
    }

    // MARK: Steps

    /// An error: a job was not run.
    private struct QueueLimitExceeded: Error, CustomStringConvertible {
        let description = "too much waits to be written"
    }

    func add(_ job: QueuedMessageJobs.Job) {
        guard let begins = queuedMessageJobs.add(job) else {
            return queuedMessageJobs.completionQueue.async { job.fail(QueueLimitExceeded()) }
        }
        if begins { continueQueuedMessageJobs() }
    }

    private func continueQueuedMessageJobs() {
        onQueue { if $0.runQueuedMessageJobs() { $0.continueQueuedMessageJobs() } }
    }

    /// Runs some of the queued jobs in one transaction. Other work may use the file before the rest is run.
    ///
    /// - Returns: Whether any job was queued.
    func runQueuedMessageJobs() -> Bool {
        let jobs = queuedMessageJobs.take()
        guard !jobs.isEmpty else { return false }
        do {
            var known: [@Sendable () -> Void] = []
            try queue.unsafeReentrantWrite { database in
                try database.inTransaction(.immediate) {
                    for job in jobs { known.append(try job.run(database, queuedMessageJobs)) }
                    return .commit
                }
            }
            queuedMessageJobs.completionQueue.async { [known] in for tell in known { tell() } }
        } catch {
            // A fault of the file is told once, by whoever has noted it.
            if !(error is DatabaseFault) {
                failures.queuedMessages.log(error, to: logger)
            }
            queuedMessageJobs.completionQueue.async { for job in jobs { job.fail(error) } }
        }
        return true
    }

    static let removal = "DELETE FROM relay_letter WHERE device = ? AND sender = ? AND id = ?"
    static let expired = """
        SELECT number, account, device, sender, id, deadline, length(body) AS size FROM relay_letter
        WHERE deadline <= ? ORDER BY deadline LIMIT 256
        """
    static let page = """
        SELECT number, account, device, sender, id, deadline, body FROM relay_letter
        WHERE device = ? AND number > ? ORDER BY number
        """

    private static func insert(
        _ queuedMessage: StoredMessage, database: Database, jobs: QueuedMessageJobs
    ) throws -> QueuedMessageInsertion {
        let known = try Bool.fetchOne(
            database, sql: "SELECT 1 FROM relay_letter WHERE device = ? AND sender = ? AND id = ?",
            arguments: [queuedMessage.device, queuedMessage.key.sender, Data(queuedMessage.key.id.bytes)])
        guard known == nil else { return .kept }
        let sum = try Row.fetchOne(
            database, sql: "SELECT count, bytes FROM relay_letter_sum WHERE device = ?",
            arguments: [queuedMessage.device])
        let (count, bytes) = sum.map { ($0["count"] as Int, $0["bytes"] as Int) } ?? (0, 0)
        guard count < QueuedMessageLimits.count, bytes + queuedMessage.body.count <= QueuedMessageLimits.bytes else {
            return .full
        }
        try database.execute(
            sql: """
                INSERT INTO relay_letter (number, device, account, sender, id, deadline, body)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                jobs.nextNumber(), queuedMessage.device, Data(queuedMessage.account), queuedMessage.key.sender,
                Data(queuedMessage.key.id.bytes),
                queuedMessage.deadline, Data(queuedMessage.body),
            ])
        try database.execute(
            sql: "INSERT OR REPLACE INTO relay_letter_sum (device, count, bytes) VALUES (?, ?, ?)",
            arguments: [queuedMessage.device, count + 1, bytes + queuedMessage.body.count])
        return .kept
    }

    private static func lower(_ device: String, count: Int, bytes: Int, _ database: Database) throws {
        try database.execute(
            sql: "UPDATE relay_letter_sum SET count = count - ?, bytes = bytes - ? WHERE device = ?",
            arguments: [count, bytes, device])
        try database.execute(
            sql: "DELETE FROM relay_letter_sum WHERE device = ? AND count <= 0", arguments: [device])
    }

    private static func queuedMessages(
        of device: String, _ account: RelayDirectory.AccountID, after number: Int64, count: Int, bytes: Int,
        at now: Timestamp, _ database: Database
    ) throws -> ([StoredMessage], Bool) {
        let rows = try Row.fetchCursor(database, sql: page, arguments: [device, number])
        var queuedMessages: [StoredMessage] = []
        var size = 0
        while let row = try rows.next() {
            // A message that has expired, or belongs to an account that the device has left, is deleted by the sweep.
            guard let queuedMessage = queuedMessage(row, body: [UInt8](row["body"] as Data)),
                queuedMessage.deadline > now.rawValue,
                queuedMessage.account == account
            else { continue }
            size += queuedMessage.body.count
            guard queuedMessages.count < count, queuedMessages.isEmpty || size <= bytes else {
                return (queuedMessages, false)
            }
            queuedMessages.append(queuedMessage)
        }
        return (queuedMessages, true)
    }

    private static func queuedMessage(_ row: Row, body: [UInt8]) -> StoredMessage? {
        guard let id = UUID(bytes: [UInt8](row["id"] as Data)) else { return nil }
        var queuedMessage = StoredMessage(
            account: [UInt8](row["account"] as Data), device: row["device"],
            key: QueuedMessageKey(sender: row["sender"], id: id), deadline: row["deadline"], body: body)
        queuedMessage.number = row["number"] ?? 0
        return queuedMessage
    }
}

extension UUID {
    fileprivate var bytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }

    fileprivate init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        var id: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &id) { $0.copyBytes(from: bytes) }
        self.init(uuid: id)
    }
}
