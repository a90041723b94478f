import AgentEngine
import AgentProtocol
import GRDB
import Platform
import PushCore

/// The rows that a pass over the store deleted.
package struct AgentPruning: Sendable, Equatable {
    /// How many notifications were deleted, finished ones and those that ended now.
    package var deleted = 0
    /// The notifications that ended now without having reached their apps; receipts of the remote ones give the reason.
    package var ended: [NotificationID] = []

    /// A pass that deleted nothing, unless told otherwise.
    package init(deleted: Int = 0, ended: [NotificationID] = []) {
        self.deleted = deleted
        self.ended = ended
    }
}

extension AgentStore {
    /// Deletes what the limits do not let stay: finished notifications, and those that wait for an app which does
    /// not take them. One whose tap waits for an answer stays, as does one on the screen beyond its expiration.
    ///
    /// - Parameters:
    ///   - apps: The apps whose notifications are checked; `nil` for all.
    ///   - limit: How many are deleted at most, so that one call stays short. Fewer are deleted when nothing more is
    ///     due.
    package func prune(_ limits: AgentLimits, of apps: Set<BundleID>? = nil, now: Timestamp, limit: Int) throws
        -> AgentPruning
    {
        let oldest = now.adding(milliseconds: -limits.retention.milliseconds)
        return try write { database in
            var pass = PruningPass(database: database, now: now, oldest: oldest, rest: limit)
            for app in try apps ?? AgentReader(database: database).appsWithNotifications() {
                try pass.deleteFinished(of: app, keep: limits.kept)
                try pass.endWaiting(of: app, keep: limits.waiting)
            }
            return pass.result
        }
    }
}

/// A pass over the store, inside its transaction.
private struct PruningPass {
    private static let noTap =
        "NOT EXISTS (SELECT 1 FROM response WHERE notification = n.id AND handled_at IS NULL)"

    let database: Database
    let now: Timestamp
    let oldest: Timestamp
    /// How many rows may still be deleted.
    var rest: Int
    var result = AgentPruning()

    init(database: Database, now: Timestamp, oldest: Timestamp, rest: Int) {
        self.database = database
        self.now = now
        self.oldest = oldest
        self.rest = rest
    }

    mutating func deleteFinished(of app: BundleID, keep: Int) throws {
        let rows = try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT sequence, id FROM notification AS n
                    WHERE app = ? AND handed_at IS NOT NULL AND presentation <> 1
                        AND (sequence <= ? OR received_at < ?) AND \(Self.noTap)
                    ORDER BY sequence LIMIT ?
                    """), arguments: [app, try boundary(app, condition: "TRUE", keep: keep), oldest.rawValue, rest])
        for row in rows { try delete(row[0], NotificationID(rawValue: row[1])) }
    }

    mutating func endWaiting(of app: BundleID, keep: Int) throws {
        let boundary = try boundary(app, condition: "handed_at IS NULL", keep: keep)
        let rows = try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT sequence, id, received_at < ?1 OR expires_at <= ?2 FROM notification AS n
                    WHERE app = ?3 AND handed_at IS NULL AND \(Self.noTap)
                        AND (sequence <= ?4 OR received_at < ?1
                            OR expires_at <= ?2 AND handle IS NULL AND listed_at IS NULL AND presentation <> 1)
                    ORDER BY sequence LIMIT ?5
                    """), arguments: [oldest.rawValue, now.rawValue, app, boundary, rest])
        let ledger = ChangeApplier(database: database)
        for row in rows {
            let (sequence, id, isOld): (Int64, NotificationID, Bool?) = (row[0], .init(rawValue: row[1]), row[2])
            try ledger.report(
                id, isOld == true ? .expired : .dropped(.overflow), at: now, source: .agent,
                note: isOld == true ? "its app did not take it" : "\(keep) newer ones wait for the app")
            try delete(sequence, id)
            result.ended.append(id)
        }
    }

    /// The sequence of the newest notification beyond the limit: `keep` newer ones are there. 0 when there is none.
    private func boundary(_ app: BundleID, condition: String, keep: Int) throws -> Int64 {
        try Int64.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT sequence FROM notification WHERE app = ? AND \(condition)
                    ORDER BY sequence DESC LIMIT 1 OFFSET ?
                    """), arguments: [app, keep]) ?? 0
    }

    private mutating func delete(_ sequence: Int64, _ id: NotificationID) throws {
        try database.execute(sql: "DELETE FROM response WHERE notification = ?", arguments: [id.rawValue])
        try database.execute(sql: "DELETE FROM notification WHERE sequence = ?", arguments: [sequence])
        rest -= 1
        result.deleted += 1
    }
}
