import AgentEngine
import AgentProtocol
import Foundation
import GRDB
import PushCore
import Scheduling

/// The changes that apps ask of their notification centre.
extension ChangeApplier {
    /// Deletes the marks of an app's runs before this one.
    func begin(run: String, of app: BundleID) throws {
        try execute("DELETE FROM done WHERE app = ? AND run <> ?", [app, run])
    }

    /// Records that a request is done. Marks that are ``RequestMark/remembered`` or more behind it are deleted: those
    /// requests are not asked again.
    func setDone(_ mark: RequestMark?, of app: BundleID) throws {
        guard let mark else { return }
        try execute("INSERT OR IGNORE INTO done (app, run, request) VALUES (?, ?, ?)", [app, mark.run, mark.request])
        let (last, isBelowAll) = mark.request.subtractingReportingOverflow(RequestMark.remembered)
        guard !isBelowAll else { return }
        try execute("DELETE FROM done WHERE app = ? AND run = ? AND request <= ?", [app, mark.run, last])
    }

    /// Stores an app's own notification that fires at once; a request with its identifier waits no longer.
    func fire(
        _ request: NotificationRequest, app: BundleID, isAsked: Bool, shows: PresentationOptions, at: Timestamp
    ) throws -> (id: NotificationID, isOnScreen: Bool) {
        _ = try unschedule([request.identifier], app: app)
        return try store(request, app: app, isAsked: isAsked, shows: shows, at: at)
    }

    /// Stores an app's own notification: it appears, or where `isAsked` waits to be handed to the app.
    ///
    /// The notification's id is negative and never used twice.
    func store(
        _ request: NotificationRequest, app: BundleID, isAsked: Bool, shows: PresentationOptions, at: Timestamp
    ) throws -> (id: NotificationID, isOnScreen: Bool) {
        try execute(
            "INSERT INTO local_id (one, last) VALUES (1, -1) ON CONFLICT (one) DO UPDATE SET last = last - 1", [])
        let raw = try Int64.fetchOne(database.cachedStatement(sql: "SELECT last FROM local_id")) ?? -1
        let id = NotificationID(rawValue: raw)
        let isOnScreen = try !isAsked && shows.contains(.screen) && hasRoom(app: app)
        try execute(
            """
            INSERT INTO notification (
                id, app, apns_id, identifier, environment, priority, payload, accepted_at, received_at, presentation,
                shows, handed_at, deferred_at, content, trigger)
            VALUES (?, ?, '', ?, '', 10, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                raw, app, request.identifier, Data("{}".utf8), at.rawValue, at.rawValue,
                isOnScreen ? 1 : 0, shows.rawValue, isAsked ? nil : at.rawValue, Self.neverWakes,
                try JSONText.content(of: request), try JSONText.trigger(of: request),
            ])
        if !isAsked, !isOnScreen, shows.contains(.list) { try list(id, at: at) }
        return (id, isOnScreen)
    }

    /// Puts a notification into the list; it takes the place of an earlier one with the same identifier.
    func list(_ id: NotificationID, at: Timestamp) throws {
        try execute(
            """
            UPDATE notification INDEXED BY notification_listed_as SET listed_at = NULL
            WHERE listed_at IS NOT NULL AND id <> ?1
                AND (app, identifier) = (SELECT app, identifier FROM notification WHERE id = ?1)
            """, [id.rawValue])
        // From now on it has appeared, so that nothing brings it back once it has left the list.
        try execute(
            """
            UPDATE notification
            SET listed_at = ?, presentation = CASE presentation WHEN 0 THEN 2 ELSE presentation END WHERE id = ?
            """, [at.rawValue, id.rawValue])
    }

    /// - Returns: The notifications to remove from the screen.
    func unlist(_ identifiers: [String]?, app: BundleID) throws -> [NotificationID] {
        guard let identifiers else { return try unlist("app = ?", [app]) }
        return try identifiers.flatMap { try unlist("app = ? AND identifier = ?", [app, $0]) }
    }

    private func unlist(_ condition: String, _ arguments: StatementArguments) throws -> [NotificationID] {
        let visible = "listed_at IS NOT NULL OR handle IS NOT NULL OR presentation IN (1, 3)"
        // A notification that could not be shown may be shown when there is a notification server again.
        let onScreen = try Int64.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT id FROM notification INDEXED BY notification_visible
                    WHERE \(condition) AND (\(visible)) AND (handle IS NOT NULL OR presentation IN (1, 3))
                    ORDER BY sequence
                    """), arguments: arguments)
        try execute(
            """
            UPDATE notification INDEXED BY notification_visible SET listed_at = NULL, handle = NULL,
                presentation = CASE WHEN presentation IN (1, 3) THEN 2 ELSE presentation END
            WHERE \(condition) AND (\(visible))
            """, arguments)
        return onScreen.map(NotificationID.init(rawValue:))
    }

    /// Ends what waited for an app, and forgets all that was stored for it.
    ///
    /// - Returns: The notifications to remove from the screen.
    func remove(_ app: BundleID, at: Timestamp) throws -> [NotificationID] {
        let shown = try unlist(nil, app: app)
        let waiting = try Int64.fetchAll(
            database.cachedStatement(sql: "SELECT id FROM notification WHERE app = ? AND handed_at IS NULL"),
            arguments: [app])
        for id in waiting {
            try report(
                NotificationID(rawValue: id), .dropped(.unregistered), at: at, source: .agent,
                note: "its app was removed from the device")
        }
        try endExtending(of: app, at: at)
        try endData(of: app, at: at)
        // A registration with a token is deleted when the server has deleted it.
        try execute("DELETE FROM registration WHERE app = ? AND token IS NULL", [app])
        let tables = [
            "response", "notification", "pending", "standing", "question", "done", "deletion", "encryption_key",
            "upstream", "topic_wish",
        ]
        for table in tables {
            try execute("DELETE FROM \(table) WHERE app = ?", [app])
        }
        return shown
    }

    func keepQuestion(_ handle: String?, app: BundleID) throws {
        guard let handle else { return try execute("DELETE FROM question WHERE app = ?", [app]) }
        try execute("INSERT OR REPLACE INTO question (app, handle) VALUES (?, ?)", [app, handle])
    }

    /// Notes and reports that an app's budget does not let it be woken: once for each notification that would wake it.
    func deferWaking(_ app: BundleID, at: Timestamp) throws {
        let waiting = try Int64.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT id FROM notification INDEXED BY notification_undeferred
                    WHERE app = ? AND handed_at IS NULL AND deferred_at IS NULL ORDER BY sequence
                    """), arguments: [app])
        for id in waiting {
            try execute("UPDATE notification SET deferred_at = ? WHERE id = ?", [at.rawValue, id])
            try report(
                NotificationID(rawValue: id), .suppressed(.budget), at: at, source: .agent,
                note: "its app is not woken before its budget allows it; it gets this then, or when it runs")
        }
    }

    func keep(_ standing: AppNotificationRecord, app: BundleID) throws {
        try execute(
            "INSERT OR REPLACE INTO standing (app, standing) VALUES (?, ?)", [app, try JSONText.of(standing)])
    }

    func keepPreference(_ name: String, _ value: String) throws {
        try execute("INSERT OR REPLACE INTO preference (name, value) VALUES (?, ?)", [name, value])
    }
}

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

    /// Records that an occurrence fires.
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

    func storeRegionState(_ side: RegionWatch.State, of key: RequestKey) throws {
        try execute("UPDATE pending SET side = ? WHERE key = ?", [side.rawValue, key])
    }
}
