import AgentWire
import DeviceModel
import Foundation
import GRDB
import PushModel

/// What the agent reads of its store.
package struct AgentReader {
    package let database: Database

    package init(database: Database) {
        self.database = database
    }

    package func identity() throws -> DeviceIdentity? {
        guard let row = try Row.fetchOne(database, sql: "SELECT device, secret FROM identity") else { return nil }
        let (device, secret): (Int64, Int64) = (row[0], row[1])
        return DeviceID(UInt64(bitPattern: device)).map {
            DeviceIdentity(device: $0, secret: UInt64(bitPattern: secret))
        }
    }

    package func registration(app: String, environment: PushEnvironment) throws -> Registration {
        let row = try Row.fetchOne(
            database, sql: "SELECT token FROM registration WHERE app = ? AND environment = ?",
            arguments: [app, environment.rawValue])
        guard let row else { return .unknown }
        let token: String? = row[0]
        return token.map { .token($0) } ?? .ended
    }

    /// The apps that the server has tokens of, with their teams where these are known.
    package func registeredApps(environment: PushEnvironment) throws -> [(app: String, team: TeamID?)] {
        try Row.fetchAll(
            database, sql: "SELECT app, team FROM registration WHERE environment = ? AND token IS NOT NULL",
            arguments: [environment.rawValue]
        ).map { row in (row[0], (row[1] as String?).map(TeamID.init(rawValue:))) }
    }

    /// The team for which the server gave an app a token; `nil` where it has none, or the team is not known.
    package func registeredTeam(app: String, environment: PushEnvironment) throws -> TeamID? {
        try String.fetchOne(
            database, sql: "SELECT team FROM registration WHERE app = ? AND environment = ? AND token IS NOT NULL",
            arguments: [app, environment.rawValue]
        ).map(TeamID.init(rawValue:))
    }

    /// The apps of which anything is stored.
    package func knownApps() throws -> Set<String> {
        Set(
            try String.fetchAll(
                database,
                sql: """
                    SELECT app FROM pending UNION SELECT app FROM standing UNION SELECT app FROM done
                    """)
        ).union(try appsWithNotifications())
    }

    /// The apps that notifications are stored of; looks at one of each.
    package func appsWithNotifications() throws -> Set<String> {
        Set(
            try String.fetchAll(
                database,
                sql: """
                    WITH RECURSIVE each(app) AS (
                        SELECT min(app) FROM notification
                        UNION ALL
                        SELECT (SELECT min(app) FROM notification WHERE app > each.app) FROM each WHERE app IS NOT NULL)
                    SELECT app FROM each WHERE app IS NOT NULL
                    """))
    }

    /// What is stored here and the server does not know to be, in order.
    package func unconfirmed() throws -> [NotificationID] {
        try Int64.fetchAll(database, sql: "SELECT id FROM unconfirmed ORDER BY id").map(NotificationID.init(rawValue:))
    }

    /// What waits to be handed to an app, in order of arrival, after a place in it.
    ///
    /// One that was tapped and whose response still waits is left out: it reaches the app with the response.
    package func waiting(app: String, after sequence: Int64, limit: Int) throws -> [WaitingNotification] {
        try WaitingNotification.fetch(
            database,
            """
            app = ? AND handed_at IS NULL AND sequence > ?
                AND NOT EXISTS (SELECT 1 FROM response WHERE notification = n.id AND handled_at IS NULL)
            """, [app, sequence], limit: limit)
    }

    /// Whether something waits for an app that it is started for where it does not run.
    package func hasWaking(app: String) throws -> Bool {
        try Bool.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT EXISTS (
                        SELECT 1 FROM notification AS n INDEXED BY notification_waking
                        WHERE app = ? AND handed_at IS NULL AND deferred_at IS NOT 0
                            AND NOT EXISTS (SELECT 1 FROM response WHERE notification = n.id AND handled_at IS NULL))
                    """), arguments: [app]) ?? false
    }

    package func waitingResponses(app: String, after sequence: Int64, limit: Int) throws -> [WaitingResponse] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT sequence, notification, action, text FROM response
                WHERE app = ? AND handled_at IS NULL AND NOT held AND sequence > ? ORDER BY sequence LIMIT ?
                """, arguments: [app, sequence, limit])
        return try rows.compactMap { row in
            let id: Int64 = row[1]
            return try WaitingNotification.fetch(database, "id = ?", [id], limit: 1).first.map {
                WaitingResponse(sequence: row[0], notification: $0, action: row[2], text: row[3])
            }
        }
    }

    package func isListed(_ id: NotificationID) throws -> Bool {
        try Bool.fetchOne(
            database, sql: "SELECT listed_at IS NOT NULL FROM notification WHERE id = ?", arguments: [id.rawValue])
            ?? false
    }

    /// Whether it has arrived before, whatever became of it.
    package func isKnown(_ id: NotificationID) throws -> Bool {
        try Bool.fetchOne(
            database,
            sql:
                "SELECT EXISTS (SELECT 1 FROM unconfirmed WHERE id = ?1) OR EXISTS (SELECT 1 FROM notification WHERE id = ?1)",
            arguments: [id.rawValue]) ?? false
    }

    /// Whether its app has not handled it yet.
    package func isUnhandled(_ id: NotificationID) throws -> Bool {
        try Bool.fetchOne(
            database, sql: "SELECT handed_at IS NULL FROM notification WHERE id = ?", arguments: [id.rawValue]) ?? false
    }

    package func notification(_ id: NotificationID) throws -> WaitingNotification? {
        try WaitingNotification.fetch(database, "id = ?", [id.rawValue], limit: 1).first
    }

    /// What is in an app's list, oldest first; the newest `limit`.
    package func listed(app: String, limit: Int) throws -> [WaitingNotification] {
        let first =
            try Int64.fetchOne(
                database,
                sql: """
                    SELECT sequence FROM notification WHERE app = ? AND listed_at IS NOT NULL
                    ORDER BY sequence DESC LIMIT 1 OFFSET ?
                    """, arguments: [app, limit - 1]) ?? 0
        return try WaitingNotification.fetch(
            database, "app = ? AND listed_at IS NOT NULL AND sequence >= ?", [app, first], limit: limit)
    }

    /// How many notifications are in an app's list.
    package func listedCount(app: String) throws -> Int {
        try Int.fetchOne(
            database, sql: "SELECT count(*) FROM notification WHERE app = ? AND listed_at IS NOT NULL",
            arguments: [app]) ?? 0
    }

    /// What an app has scheduled, in the order in which it was added.
    package func requests(app: String) throws -> [NotificationRequest] { try pending(app: app).map(\.request) }

    /// What waits, of one app or of all, in the order in which it was added.
    package func pending(app: String? = nil) throws -> [PendingRequest] {
        guard let app else { return try PendingRequest.fetch(database, "true ORDER BY key") }
        return try PendingRequest.fetch(database, "app = ? ORDER BY key", [app])
    }

    /// The keys of all that waits, of one app or of all.
    package func pendingKeys(app: String? = nil) throws -> Set<Int64> {
        guard let app else { return Set(try Int64.fetchAll(database, sql: "SELECT key FROM pending")) }
        let statement = try database.cachedStatement(sql: "SELECT key FROM pending WHERE app = ?")
        return Set(try Int64.fetchAll(statement, arguments: [app]))
    }

    /// One request that waits.
    package func pending(key: Int64) throws -> PendingRequest? {
        try PendingRequest.fetch(database, "key = ?", [key]).first
    }

    /// Which requests of a run of an app are done.
    package func done(app: String, run: String) throws -> Set<Int64> {
        Set(
            try Int64.fetchAll(
                database, sql: "SELECT request FROM done WHERE app = ? AND run = ?", arguments: [app, run]))
    }

    /// The files that notifications of the list, on the screen, on their way or scheduled name.
    package func attachmentPaths() throws -> Set<String> {
        let contents: [NotificationContent] =
            try String.fetchAll(
                database,
                sql:
                    """
                    SELECT content FROM notification AS n WHERE content LIKE '%"attachments"%' AND (
                        listed_at IS NOT NULL OR handed_at IS NULL OR handle IS NOT NULL OR presentation = 1
                        OR EXISTS (SELECT 1 FROM response WHERE notification = n.id AND handled_at IS NULL))
                    """
            ).compactMap { JSONText.read($0) }
        let requests: [NotificationRequest] =
            try String.fetchAll(database, sql: "SELECT request FROM pending WHERE request LIKE '%\"attachments\"%'")
            .compactMap { JSONText.read($0) }
        return Set((contents + requests.map(\.content)).flatMap(\.attachments).map(\.path))
    }

    package func preference(_ name: String) throws -> String? {
        try String.fetchOne(database, sql: "SELECT value FROM preference WHERE name = ?", arguments: [name])
    }

    package func standing(app: String) throws -> AppNotificationRecord {
        JSONText.read(
            try String.fetchOne(database, sql: "SELECT standing FROM standing WHERE app = ?", arguments: [app]))
            ?? AppNotificationRecord()
    }

    /// The questions that were open when this store was last used: the app, and what the desktop calls it.
    package func questions() throws -> [(app: String, handle: String)] {
        try Row.fetchAll(database, sql: "SELECT app, handle FROM question").map { ($0[0], $0[1]) }
    }

    /// The oldest of what is to be shown, in order of arrival.
    package func wanted(limit: Int) throws -> [WaitingNotification] {
        try WaitingNotification.fetch(database, "presentation = 1", [], limit: limit)
    }

    /// The ids of everything that is to be shown.
    package func wantedIDs() throws -> [NotificationID] {
        try Int64.fetchAll(database, sql: "SELECT id FROM notification WHERE presentation = 1")
            .map(NotificationID.init(rawValue:))
    }

    /// The newest of what was on the screen when this store was last used, oldest first.
    package func shown(limit: Int) throws -> [WaitingNotification] {
        let first =
            try Int64.fetchOne(
                database,
                sql:
                    "SELECT sequence FROM notification WHERE handle IS NOT NULL ORDER BY sequence DESC LIMIT 1 OFFSET ?",
                arguments: [limit - 1]) ?? 0
        return try WaitingNotification.fetch(database, "handle IS NOT NULL AND sequence >= ?", [first], limit: limit)
    }

    /// The newest of what is on the screen, on its way there, or waits in the list for a notification server.
    package func visible(limit: Int) throws -> [WaitingNotification] {
        try WaitingNotification.fetch(
            database,
            """
            sequence IN (
                SELECT sequence FROM notification
                WHERE handle IS NOT NULL OR presentation = 1 OR presentation = 3 AND listed_at IS NOT NULL
                ORDER BY sequence DESC LIMIT ?)
            """, [limit], limit: limit)
    }

    /// Receipts that the server has not confirmed, with their places in the outbox.
    package func receipts(after sequence: Int64, limit: Int) throws -> [(sequence: Int64, receipt: Receipt)] {
        let rows = try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT sequence, notification, state, at, source, note FROM outbox
                    WHERE sequence > ? ORDER BY sequence LIMIT ?
                    """), arguments: [sequence, limit])
        return rows.compactMap { row in
            guard let state = NotificationState(text: row[2] as String),
                let source = TimelineSource(rawValue: row[4])
            else { return nil }
            let entry = TimelineEntry(at: Timestamp(rawValue: row[3]), state: state, source: source, note: row[5])
            return (row[0], Receipt(id: NotificationID(rawValue: row[1]), entry: entry))
        }
    }
}
