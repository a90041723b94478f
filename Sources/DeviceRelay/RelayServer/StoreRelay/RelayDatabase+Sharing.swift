import PushCore
import PushServer
import RelayProtocol

/// The outcome of a device's hello where several servers use the database.
enum RelayJoining: Sendable {
    /// The device is stored with its session. `others` are accounts that have changed by that, with their revisions; `isNew` is whether the account had no device.
    case joined(SharedAccount, others: [RelayDirectory.AccountID: Int64], isNew: Bool)
    /// The device has a later session.
    case superseded
    /// The device may not join, with the reason.
    case refused(String)
    /// The device could not be written, with a description of the error.
    case failed(String)
}

/// Accounts and sessions that several servers share. Every call returns at once; calls are executed in their order, and
/// `complete` is called once, later, on another thread.
///
/// The row of an account is locked by each change, and its revision counts them: who has read the account at a revision misses
/// nothing of what is before.
extension RelayDatabase {
    /// The accounts that a job has changed, with their revisions.
    typealias Revisions = [RelayDirectory.AccountID: Int64]

    /// Stores a device with its session, and reads all devices of its account.
    ///
    /// - Parameter mayBegin: Whether the device may begin the account, where it is new.
    func join(
        _ session: RelaySession, at node: UInt16, _ device: StoredDevice, of account: RelayDirectory.AccountID,
        mayBegin: Bool, then complete: @escaping @Sendable (RelayJoining) -> Void
    ) {
        guard let row = DeviceRow(device) else {
            return jobs.completionQueue.async { complete(.failed("the device's description cannot be written")) }
        }
        let job = RelayJobs.Job(locks: [account, Array(session.device.utf8)]) { sql in
            let outcome = try Self.join(session, at: node, with: row, of: account, mayBegin: mayBegin, sql)
            return { complete(outcome) }
        } fail: {
            complete(.failed("\($0)"))
        }
        add(job)
    }

    /// Records that a session is over, unless the device has a later one; completes with `nil` where that is not known.
    func leave(
        _ session: RelaySession, of account: RelayDirectory.AccountID?, at now: Timestamp,
        then complete: @escaping @Sendable (Revisions?) -> Void
    ) {
        change(locking: [account ?? [], Array(session.device.utf8)], then: complete) { sql in
            try RelayPairings(sql).remove(session)
            guard let account = try Self.account(of: session.device, sql) else { return [:] }
            let revision = try Self.revise(account, sql)
            let changed = try sql.run(
                """
                UPDATE relay_device SET node = NULL, seen_at = ?, changed = ? WHERE device = ? AND account = ? AND epoch = ?
                """, now, revision, session.device, account, Int64(session.epoch))
            return changed > 0 ? [account: revision] : [:]
        }
    }

    /// Stores how a device that has no session can be woken.
    func update(
        _ device: StoredDevice, of account: RelayDirectory.AccountID,
        then complete: @escaping @Sendable (Revisions?) -> Void
    ) {
        guard let row = DeviceRow(device) else { return jobs.completionQueue.async { complete([:]) } }
        change(locking: [account, Array(row.device.utf8)], then: complete) { sql in
            let revision = try Self.revise(account, sql)
            let changed = try sql.run(
                "UPDATE relay_device SET described = ?, wake = ?, changed = ? WHERE device = ? AND account = ? AND node IS NULL",
                row.described, row.wake, revision, row.device, account)
            return changed > 0 ? [account: revision] : [:]
        }
    }

    /// Deletes a device, unless it has said hello after a time; completes with `nil` where that is not known.
    func remove(
        _ device: String, unlessSeenAfter now: Timestamp, then complete: @escaping @Sendable (Revisions?) -> Void
    ) {
        change(locking: [Array(device.utf8)], then: complete) { sql in
            guard let account = try Self.account(of: device, sql) else { return [:] }
            let revision = try Self.revise(account, sql)
            try sql.run(
                "DELETE FROM relay_device WHERE device = ? AND account = ? AND seen_at <= ?", device, account, now)
            return [account: revision]
        }
    }

    /// Reads what has changed of an account since a revision; completes with `nil` where it cannot be read.
    func read(
        _ account: RelayDirectory.AccountID, after revision: Int64, at node: UInt16,
        then complete: @escaping @Sendable (SharedAccount?) -> Void
    ) {
        let job = RelayJobs.Job { sql in
            let read = try Self.read(account, after: revision, at: node, sql)
            return { complete(read) }
        } fail: { _ in
            complete(nil)
        }
        add(job)
    }

    /// Reads the revisions of accounts, and which of these devices have stored messages.
    ///
    /// - Parameter complete: Called with the revision of each account that is stored, and with `nil` where they cannot be read.
    func readState(
        of accounts: [RelayDirectory.AccountID], messagesFor devices: [String],
        then complete:
            @escaping @Sendable (
                (states: [RelayDirectory.AccountID: Int64], waiting: [String])?
            ) -> Void
    ) {
        let job = RelayJobs.Job { sql in
            var states: [RelayDirectory.AccountID: Int64] = [:]
            for row in try sql.execute(
                "SELECT account, revision FROM relay_account WHERE account = ?", each: accounts.map { [$0.parameter] }
            ).flatMap(\.rows) { states[try row["account"]] = try row["revision"] }
            let waiting = try sql.execute(
                "SELECT device FROM relay_letter_sum WHERE device = ?", each: devices.map { [$0.parameter] }
            ).flatMap(\.rows).map { try $0["device"] as String }
            return { [states] in complete((states, waiting)) }
        } fail: { _ in
            complete(nil)
        }
        add(job)
    }

    /// Reads which server has the session of a device; completes with `nil` where none has.
    func node(of device: String, then complete: @escaping @Sendable (UInt16?) -> Void) {
        let job = RelayJobs.Job { sql in
            let row = try sql.row("SELECT node FROM relay_device WHERE device = ? AND node IS NOT NULL", device)
            let node = try row.map { UInt16(truncatingIfNeeded: try $0["node"] as Int64) }
            return { complete(node) }
        } fail: { _ in
            complete(nil)
        }
        add(job)
    }

    /// Forgets the sessions that an earlier run has left; completes with whether that is done.
    ///
    /// - Parameters:
    ///   - node: The server that had them; `nil` for all servers, where one alone uses the database now.
    ///   - start: The time since which sessions are not of an earlier run.
    func endSessions(
        at node: UInt16?, before start: Timestamp, then complete: @escaping @Sendable (_ isDone: Bool) -> Void
    ) {
        let job = RelayJobs.Job { sql in
            let held = (node.map { "node = \($0)" } ?? "node IS NOT NULL") + " AND seen_at < ?"
            let rows = try sql.rows("SELECT DISTINCT account FROM relay_device WHERE \(held)", start)
            let accounts = try rows.map { try $0["account"] as [UInt8] }
            for account in accounts.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                try sql.run(
                    "UPDATE relay_device SET node = NULL, changed = ? WHERE account = ? AND \(held)",
                    try Self.revise(account, sql), account, start)
            }
            try sql.run("DELETE FROM relay_pairing WHERE " + (node.map { "node = \($0)" } ?? "true"))
            return { complete(true) }
        } fail: { [weak self] error in
            if let self { log(error, as: failures.devices) }
            complete(false)
        }
        add(job)
    }

    /// Records that a device names a place to be paired; completes with `nil` where that could not be written.
    func pair(
        _ session: RelaySession, at place: [UInt8], from network: String?, node: UInt16, now: Timestamp,
        then complete: @escaping @Sendable (RelayPairings.Outcome?) -> Void
    ) {
        let job = RelayJobs.Job(locks: [Array("pairing".utf8)]) { sql in
            let outcome = try RelayPairings(sql).add(session, at: place, from: network, node: node, now: now)
            return { complete(outcome) }
        } fail: { _ in
            complete(nil)
        }
        add(job)
    }

    // MARK: Steps

    private func change(
        locking locks: [[UInt8]], then complete: @escaping @Sendable (Revisions?) -> Void,
        _ body: @escaping @Sendable (any SQLConnection) throws -> Revisions
    ) {
        let job = RelayJobs.Job(locks: locks) { sql in
            let revisions = try body(sql)
            return { complete(revisions) }
        } fail: { [weak self] error in
            if let self { log(error, as: failures.devices) }
            complete(nil)
        }
        add(job)
    }

    /// Locks an account, and counts a change of it.
    static func revise(_ account: [UInt8], _ sql: any SQLConnection) throws -> Int64 {
        try sql.row(
            """
            INSERT INTO relay_account (account, revision) VALUES (?, 1)
            ON CONFLICT (account) DO UPDATE SET revision = relay_account.revision + 1 RETURNING revision
            """, account)?["revision"] ?? 0
    }

    private static func account(of device: String, _ sql: any SQLConnection) throws -> [UInt8]? {
        try sql.row("SELECT account FROM relay_device WHERE device = ?", device)?["account"]
    }

    private static func join(
        _ session: RelaySession, at node: UInt16, with device: DeviceRow, of account: [UInt8], mayBegin: Bool,
        _ sql: any SQLConnection
    ) throws -> RelayJoining {
        let isNew = try sql.row("SELECT device FROM relay_device WHERE account = ? LIMIT 1", account) == nil
        if isNew, !mayBegin { return .refused(RelayDirectory.tooManyAccounts) }
        let revision = try revise(account, sql)
        let old = try sql.row("SELECT account, epoch FROM relay_device WHERE device = ? FOR UPDATE", device.device)
        if let old, try old["epoch"] > Int64(session.epoch) { return .superseded }
        var others: [RelayDirectory.AccountID: Int64] = [:]
        if let left = try old?["account"] as [UInt8]?, left != account { others[left] = try revise(left, sql) }
        if !others.isEmpty || old == nil {
            guard try makeSpace(in: account, sql) else { return .refused(RelayDirectory.tooManyDevices) }
        }
        try sql.run(
            """
            INSERT INTO relay_device (device, account, described, wake, seen_at, node, epoch, changed)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (device) DO UPDATE SET account = excluded.account, described = excluded.described,
                wake = excluded.wake, seen_at = excluded.seen_at, node = excluded.node, epoch = excluded.epoch,
                changed = excluded.changed
            """, device.device, account, device.described, device.wake, device.seen, Int64(node),
            Int64(session.epoch), revision)
        return .joined(try read(account, after: -1, at: node, sql), others: others, isNew: isNew)
    }

    /// Deletes the device that has been away the longest from an account with as many devices as it may have.
    ///
    /// - Returns: `false` where all devices have sessions.
    private static func makeSpace(in account: [UInt8], _ sql: any SQLConnection) throws -> Bool {
        let count = try sql.row("SELECT count(*) AS count FROM relay_device WHERE account = ?", account)
        guard let count, try count["count"] >= RelayDirectory.deviceLimit else { return true }
        let away = try sql.row(
            "SELECT device FROM relay_device WHERE account = ? AND node IS NULL ORDER BY seen_at LIMIT 1", account)
        guard let away else { return false }
        try sql.run("DELETE FROM relay_device WHERE device = ?", try away["device"] as String)
        return true
    }

    private static func read(
        _ account: [UInt8], after revision: Int64, at node: UInt16, _ sql: any SQLConnection
    ) throws -> SharedAccount {
        let state = try sql.row(
            """
            SELECT revision, coalesce((SELECT last FROM relay_document_sum
                WHERE relay_document_sum.account = relay_account.account), 0) AS last FROM relay_account WHERE account = ?
            """, account)
        let rows = try sql.rows(
            """
            SELECT device, CASE WHEN changed > ?2 THEN described END AS described, wake, seen_at, node, epoch
            FROM relay_device WHERE account = ?1
            """, account, revision)
        var read = SharedAccount(
            since: revision, revision: try state?["revision"] ?? 0, lastDocument: try state?["last"] ?? 0, changed: [],
            devices: [])
        for row in rows {
            read.devices.insert(try row["device"])
            guard try row["described"] as [UInt8]? != nil, let stored = try DeviceRow(row).stored else { continue }
            let holder = try (row["node"] as Int64?).map { UInt16(truncatingIfNeeded: $0) }
            let epoch = UInt64(bitPattern: try row["epoch"] as Int64)
            read.changed.append(
                SharedDevice(
                    stored,
                    session: holder.map {
                        RelaySession(device: stored.device.id, epoch: epoch, node: $0 == node ? nil : $0)
                    }))
        }
        return read
    }
}
