import AgentProtocol
import GRDB
import PushCore
import Scheduling

/// The changes of requests that wait for their time or place.
extension ChangeApplier {
    /// How many requests of one app may wait; one more takes the place of the one that was added first.
    package static let requestLimit = 64

    func schedule(_ request: NotificationRequest, app: BundleID, at now: ClockReading, offset: Int?) throws
        -> ChangeResult
    {
        let replaced = try unschedule([request.identifier], app: app)
        try execute(
            """
            INSERT INTO pending (app, identifier, request, added_at, boot, since_boot, zone_offset)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                app, request.identifier, try JSONText.request(request), now.wall.rawValue, now.boot.uuidString,
                now.sinceBoot, offset,
            ])
        let key = RequestKey(rawValue: database.lastInsertedRowID)
        let dropped = try keys(
            """
            DELETE FROM pending WHERE key IN (
                SELECT key FROM pending WHERE app = ? ORDER BY key DESC LIMIT -1 OFFSET ?) RETURNING key
            """, [app, Self.requestLimit])
        return .scheduled(
            PendingRequest(key: key, app: app, request: request, added: now, addedOffset: offset), replaced: replaced,
            dropped: dropped)
    }

    /// - Parameter identifiers: `nil` for all of the app's.
    /// - Returns: The keys of what waits no longer.
    func unschedule(_ identifiers: [String]?, app: BundleID) throws -> [RequestKey] {
        guard let identifiers else { return try keys("DELETE FROM pending WHERE app = ? RETURNING key", [app]) }
        return try identifiers.flatMap { identifier in
            try keys("DELETE FROM pending WHERE app = ? AND identifier = ? RETURNING key", [app, identifier])
        }
    }

    private func keys(_ statement: String, _ arguments: StatementArguments) throws -> [RequestKey] {
        try RequestKey.fetchAll(database.cachedStatement(sql: statement), arguments: arguments)
    }

    /// Notes that an occurrence fires.
    ///
    /// - Returns: Whether it may fire: its request still waits, and has not fired for this occurrence.
    func take(_ due: DueRequest) throws -> Bool {
        guard let occurrence = due.occurrence else {
            try execute("UPDATE pending SET fired = fired + 1 WHERE key = ?", [due.key])
            return try end(due)
        }
        try execute(
            """
            UPDATE pending SET last_fired = ?1, fired = fired + 1
            WHERE key = ?2 AND (last_fired IS NULL OR last_fired < ?1)
            """, [occurrence.rawValue, due.key])
        return try end(due)
    }

    private func end(_ due: DueRequest) throws -> Bool {
        guard database.changesCount == 1 else { return false }
        if due.isLast { try execute("DELETE FROM pending WHERE key = ?", [due.key]) }
        return true
    }

    func pass(_ occurrence: Timestamp, of key: RequestKey, isLast: Bool) throws {
        try execute("UPDATE pending SET last_fired = ? WHERE key = ?", [occurrence.rawValue, key])
        if isLast { try execute("DELETE FROM pending WHERE key = ?", [key]) }
    }

    func anchor(_ key: RequestKey, added: ClockReading, lastFired: Timestamp?) throws {
        try execute(
            "UPDATE pending SET added_at = ?, boot = ?, since_boot = ?, last_fired = ? WHERE key = ?",
            [added.wall.rawValue, added.boot.uuidString, added.sinceBoot, lastFired?.rawValue, key])
    }

    func keepSide(_ side: RegionWatch.State, of key: RequestKey) throws {
        try execute("UPDATE pending SET side = ? WHERE key = ?", [side.rawValue, key])
    }
}
