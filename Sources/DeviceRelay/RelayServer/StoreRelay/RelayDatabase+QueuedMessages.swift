import Foundation
import PushCore
import PushServer
import RelayProtocol

/// Storage of messages queued for devices that are away.
///
/// Every call returns at once; calls are executed in their order. `complete` is called once, later, on another thread,
/// in that order, and may call the store again.
extension RelayDatabase {
    /// Stores a message after all earlier ones, unless one with the same sender and id is stored for the device.
    package func keep(
        _ queuedMessage: StoredMessage, then complete: @escaping @Sendable (QueuedMessageInsertion) -> Void
    ) {
        let job = RelayJobs.Job(
            size: queuedMessage.body.count, locks: [Array(queuedMessage.device.utf8)]
        ) { sql in
            let keeping = try Self.insert(queuedMessage, sql)
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
        let job = RelayJobs.Job { sql in
            let (queuedMessages, isAll) = try Self.queuedMessages(
                of: device, account, after: number, count: count, bytes: bytes, at: now, sql)
            return { complete(queuedMessages, isAll) }
        } fail: { _ in
            complete(nil, false)
        }
        add(job)
    }

    /// Deletes a message, and completes with whether it was stored; `nil` where that is not known, and it may still be.
    package func remove(_ key: QueuedMessageKey, for device: String, then complete: @escaping @Sendable (Bool?) -> Void)
    {
        let job = RelayJobs.Job(locks: [Array(device.utf8)]) { sql in
            let row = try sql.row(Self.removal + " RETURNING length(body) AS size", device, key.sender, key.id.bytes)
            if let row { try Self.lower(device, bytes: row["size"], sql) }
            let wasKept = row != nil
            return { complete(wasKept) }
        } fail: { _ in
            complete(nil)
        }
        add(job)
    }

    /// Deletes a device's messages, and completes with them, without their bodies.
    package func removeAll(for device: String, then complete: @escaping @Sendable ([StoredMessage]) -> Void) {
        let job = RelayJobs.Job(locks: [Array(device.utf8)]) { sql in
            let rows = try sql.rows(
                "DELETE FROM relay_letter WHERE device = ? RETURNING number, account, device, sender, id, deadline",
                device)
            try sql.run("DELETE FROM relay_letter_sum WHERE device = ?", device)
            let ended = try rows.compactMap { try Self.queuedMessage($0, body: []) }
            return { complete(ended) }
        } fail: { _ in
            complete([])
        }
        add(job)
    }

    /// Deletes messages that have expired by `now`; completes with some of them, without their bodies, and with the
    /// time at which the next expires.
    ///
    /// - Parameter node: This server, where others use the database too: messages for a device of another server are left to
    ///   that one for a minute.
    package func expire(
        at now: Timestamp, node: UInt16? = nil, then complete: @escaping @Sendable ([StoredMessage], Timestamp?) -> Void
    ) {
        let job = RelayJobs.Job { sql in
            var ended: [StoredMessage] = []
            let rows =
                if let node {
                    try sql.rows(Self.expiredHere, now, Int64(node), now.adding(milliseconds: -60_000))
                } else { try sql.rows(Self.expired, now) }
            for row in rows {
                // Another server may have deleted it meanwhile.
                let changed = try sql.run("DELETE FROM relay_letter WHERE number = ?", try row["number"] as Int64)
                guard changed > 0 else { continue }
                try Self.lower(try row["device"], bytes: try row["size"], sql)
                if let message = try Self.queuedMessage(row, body: []) { ended.append(message) }
            }
            let next =
                try sql.row("SELECT min(deadline) AS next FROM relay_letter WHERE deadline > ?", now)?["next"] as Int64?
            // More may have expired than one job deletes.
            if rows.count == Self.expiredLimit { return { [ended] in complete(ended, now) } }
            return { [ended] in complete(ended, next.map { Timestamp(rawValue: $0) }) }
        } fail: { _ in
            // A failed deletion is repeated in a minute.
            complete([], now.adding(milliseconds: 60_000))
        }
        add(job)
    }

    // MARK: Steps

    static let removal = "DELETE FROM relay_letter WHERE device = ? AND sender = ? AND id = ?"
    private static let expiredLimit = 256
    static let expired = """
        SELECT number, account, device, sender, id, deadline, length(body) AS size FROM relay_letter
        WHERE deadline <= ? ORDER BY deadline LIMIT \(expiredLimit)
        """
    static let expiredHere = """
        SELECT number, account, device, sender, id, deadline, length(body) AS size FROM relay_letter
        WHERE deadline <= ?1 AND (deadline <= ?3 OR NOT EXISTS (SELECT 1 FROM relay_device
            WHERE relay_device.device = relay_letter.device AND node IS NOT NULL AND node <> ?2))
        ORDER BY deadline LIMIT \(expiredLimit)
        """
    static let page = """
        SELECT number, account, device, sender, id, deadline, body FROM relay_letter
        WHERE device = ? AND number > ? ORDER BY number LIMIT ?
        """
    /// The sums of a device, whose row is locked from then on: messages for it are numbered one after the other.
    private static let sum = """
        INSERT INTO relay_letter_sum (device, count, bytes) VALUES (?, 0, 0)
        ON CONFLICT (device) DO UPDATE SET count = relay_letter_sum.count RETURNING count, bytes
        """

    private static func insert(
        _ queuedMessage: StoredMessage, _ sql: any SQLConnection
    ) throws -> QueuedMessageInsertion {
        guard let sum = try sql.row(sum, queuedMessage.device) else { return .full }
        let known = try sql.row(
            "SELECT number FROM relay_letter WHERE device = ? AND sender = ? AND id = ?",
            queuedMessage.device, queuedMessage.key.sender, queuedMessage.key.id.bytes)
        guard known == nil else { return .kept }
        let (count, bytes) = (try sum["count"] as Int, try sum["bytes"] as Int)
        guard count < QueuedMessageLimits.count, bytes + queuedMessage.body.count <= QueuedMessageLimits.bytes else {
            return .full
        }
        try sql.run(
            "INSERT INTO relay_letter (device, account, sender, id, deadline, body) VALUES (?, ?, ?, ?, ?, ?)",
            queuedMessage.device, queuedMessage.account, queuedMessage.key.sender, queuedMessage.key.id.bytes,
            queuedMessage.deadline, queuedMessage.body)
        try sql.run(
            "UPDATE relay_letter_sum SET count = count + 1, bytes = bytes + ? WHERE device = ?",
            queuedMessage.body.count, queuedMessage.device)
        return .kept
    }

    private static func lower(_ device: String, bytes: Int, _ sql: any SQLConnection) throws {
        try sql.run(
            "UPDATE relay_letter_sum SET count = count - 1, bytes = bytes - ? WHERE device = ?", bytes, device)
        try sql.run("DELETE FROM relay_letter_sum WHERE device = ? AND count <= 0", device)
    }

    /// The rows that are read at once: a message and its body are read together.
    private static let pageSize = 33

    private static func queuedMessages(
        of device: String, _ account: RelayDirectory.AccountID, after number: Int64, count: Int, bytes: Int,
        at now: Timestamp, _ sql: any SQLConnection
    ) throws -> ([StoredMessage], Bool) {
        var queuedMessages: [StoredMessage] = []
        var size = 0
        var last = number
        while true {
            let rows = try sql.rows(page, device, last, pageSize)
            for row in rows {
                last = try row["number"]
                // A message that has expired, or belongs to an account that the device has left, is deleted by the sweep.
                guard let queuedMessage = try queuedMessage(row, body: try row["body"]),
                    queuedMessage.deadline > now.rawValue, queuedMessage.account == account
                else { continue }
                size += queuedMessage.body.count
                guard queuedMessages.count < count, queuedMessages.isEmpty || size <= bytes else {
                    return (queuedMessages, false)
                }
                queuedMessages.append(queuedMessage)
            }
            if rows.count < pageSize { return (queuedMessages, true) }
        }
    }

    private static func queuedMessage(_ row: any SQLRow, body: [UInt8]) throws -> StoredMessage? {
        guard let id = UUID(bytes: try row["id"]) else { return nil }
        var queuedMessage = StoredMessage(
            account: try row["account"], device: try row["device"],
            key: QueuedMessageKey(sender: try row["sender"], id: id), deadline: try row["deadline"], body: body)
        queuedMessage.number = try row["number"]
        return queuedMessage
    }
}

extension UUID {
    var bytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }

    init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        var id: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &id) { $0.copyBytes(from: bytes) }
        self.init(uuid: id)
    }
}
