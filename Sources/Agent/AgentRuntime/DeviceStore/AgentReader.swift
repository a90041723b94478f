import AgentEngine
import AgentProtocol
import Foundation
import GRDB
import PushCore
import Scheduling

/// The queries of the agent's store. Used within the reading or the transaction that it was made for.
///
/// Every query throws when the database cannot be read.
package struct AgentReader {
    /// The connection to the database.
    package let database: Database

    /// Reads by this connection, in its transaction where it is in one.
    package init(database: Database) {
        self.database = database
    }

    /// This device's id and secret; `nil` while it is not enrolled.
    package func identity() throws -> DeviceIdentity? {
        guard let row = try Row.fetchOne(database.cachedStatement(sql: "SELECT device, secret FROM identity")) else {
            return nil
        }
        let (device, secret): (Int64, Int64) = (row[0], row[1])
        return DeviceID(UInt64(bitPattern: device)).map {
            DeviceIdentity(device: $0, secret: UInt64(bitPattern: secret))
        }
    }

    /// The state of an app's registration in an environment.
    package func registration(app: BundleID, environment: PushEnvironment) throws -> Registration {
        let row = try Row.fetchOne(
            database.cachedStatement(sql: "SELECT token FROM registration WHERE app = ? AND environment = ?"),
            arguments: [app, environment.rawValue])
        guard let row else { return .unknown }
        let token: String? = row[0]
        return token.map { .token($0) } ?? .ended
    }

    /// The apps that have device tokens in an environment, with their teams where these are known.
    package func registeredApps(environment: PushEnvironment) throws -> [(app: BundleID, team: TeamID?)] {
        try Row.fetchAll(
            database.cachedStatement(
                sql: "SELECT app, team FROM registration WHERE environment = ? AND token IS NOT NULL"),
            arguments: [environment.rawValue]
        ).map { row in (row[0], (row[1] as String?).map(TeamID.init(rawValue:))) }
    }

    /// The team for which the server gave an app a token; `nil` where it has no token, or the team is not known.
    package func registeredTeam(app: BundleID, environment: PushEnvironment) throws -> TeamID? {
        try String.fetchOne(
            database.cachedStatement(
                sql: "SELECT team FROM registration WHERE app = ? AND environment = ? AND token IS NOT NULL"),
            arguments: [app, environment.rawValue]
        ).map(TeamID.init(rawValue:))
    }

    /// The apps of which notifications, requests or settings are stored. A registration alone does not count.
    package func knownApps() throws -> Set<BundleID> {
        Set(
            try BundleID.fetchAll(
                database.cachedStatement(
                    sql: """
                        SELECT app FROM pending UNION SELECT app FROM standing UNION SELECT app FROM done
                        UNION SELECT app FROM extending UNION SELECT app FROM data_message
                        UNION SELECT app FROM upstream UNION SELECT app FROM topic_wish
                        """))
        ).union(try appsWithNotifications())
    }

    /// The apps of which notifications are stored. One index entry is read for each app, however many are stored.
    package func appsWithNotifications() throws -> Set<BundleID> {
        Set(
            try BundleID.fetchAll(
                database.cachedStatement(
                    sql: """
                        WITH RECURSIVE each(app) AS (
                            SELECT min(app) FROM notification
                            UNION ALL
                            SELECT (SELECT min(app) FROM notification WHERE app > each.app) FROM each WHERE app IS NOT NULL)
                        SELECT app FROM each WHERE app IS NOT NULL
                        """)))
    }

    /// The ids of notifications that are stored here and whose ack the server has not confirmed, ascending.
    package func unconfirmed() throws -> [NotificationID] {
        try Int64.fetchAll(database.cachedStatement(sql: "SELECT id FROM unconfirmed ORDER BY id")).map(
            NotificationID.init(rawValue:))
    }

    /// The notifications that wait to be handed to an app: the first `limit` after a place in the order of arrival.
    ///
    /// A notification with a waiting response is left out: it reaches the app with the response.
    package func waiting(app: BundleID, after sequence: WaitingNotification.Place, limit: Int) throws
        -> [WaitingNotification]
    {
        try WaitingNotification.fetch(
            database,
            condition: """
                app = ? AND handed_at IS NULL AND sequence > ?
                    AND NOT EXISTS (SELECT 1 FROM response WHERE notification = n.id AND handled_at IS NULL)
                """, arguments: [app, sequence], limit: limit)
    }

    /// Whether a notification waits for which an app that does not run may be woken.
    package func hasWaking(app: BundleID) throws -> Bool {
        try Bool.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT EXISTS (
                        SELECT 1 FROM notification AS n INDEXED BY notification_waking
                        WHERE app = ? AND handed_at IS NULL AND deferred_at IS NOT 0
                            AND NOT EXISTS (SELECT 1 FROM response WHERE notification = n.id AND handled_at IS NULL))
                    """), arguments: [app]) ?? false
    }

    /// The responses that an app has not handled: the first `limit` after a place in their order. Those that wait for
    /// the screen to be unlocked are left out.
    package func waitingResponses(app: BundleID, after sequence: WaitingResponse.Place, limit: Int) throws
        -> [WaitingResponse]
    {
        let rows = try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT sequence, notification, action, text, attempts FROM response
                    WHERE app = ? AND handled_at IS NULL AND NOT held AND sequence > ? ORDER BY sequence LIMIT ?
                    """), arguments: [app, sequence, limit])
        return try rows.compactMap { row in
            let id: Int64 = row[1]
            return try WaitingNotification.fetch(database, condition: "id = ?", arguments: [id], limit: 1).first.map {
                var response = WaitingResponse(sequence: row[0], notification: $0, action: row[2], text: row[3])
                response.attempts = row[4]
                return response
            }
        }
    }

    /// Whether a notification is in its app's list; `false` where it is not stored.
    package func isListed(_ id: NotificationID) throws -> Bool {
        try Bool.fetchOne(
            database.cachedStatement(sql: "SELECT listed_at IS NOT NULL FROM notification WHERE id = ?"),
            arguments: [id.rawValue])
            ?? false
    }

    /// Whether a notification has arrived before: it is stored, or its ack is not confirmed.
    package func isKnown(_ id: NotificationID) throws -> Bool {
        try Bool.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT EXISTS (SELECT 1 FROM unconfirmed WHERE id = ?1)
                        OR EXISTS (SELECT 1 FROM notification WHERE id = ?1)
                        OR EXISTS (SELECT 1 FROM extending WHERE id = ?1)
                    """), arguments: [id.rawValue]) ?? false
    }

    /// Whether a notification waits for its app to handle it; `false` where it is not stored.
    package func isUnhandled(_ id: NotificationID) throws -> Bool {
        try Bool.fetchOne(
            database.cachedStatement(sql: "SELECT handed_at IS NULL FROM notification WHERE id = ?"),
            arguments: [id.rawValue]) ?? false
    }

    /// The notification with this id; `nil` where it is not stored.
    package func notification(_ id: NotificationID) throws -> WaitingNotification? {
        try WaitingNotification.fetch(database, condition: "id = ?", arguments: [id.rawValue], limit: 1).first
    }

    /// The newest notifications of an app's list, at most `limit` of them, oldest first.
    package func listed(app: BundleID, limit: Int) throws -> [WaitingNotification] {
        let first =
            try Int64.fetchOne(
                database.cachedStatement(
                    sql: """
                        SELECT sequence FROM notification WHERE app = ? AND listed_at IS NOT NULL
                        ORDER BY sequence DESC LIMIT 1 OFFSET ?
                        """), arguments: [app, limit - 1]) ?? 0
        return try WaitingNotification.fetch(
            database, condition: "app = ? AND listed_at IS NOT NULL AND sequence >= ?", arguments: [app, first],
            limit: limit)
    }

    /// How many notifications are in an app's list.
    package func listedCount(app: BundleID) throws -> Int {
        try Int.fetchOne(
            database.cachedStatement(sql: "SELECT count(*) FROM notification WHERE app = ? AND listed_at IS NOT NULL"),
            arguments: [app]) ?? 0
    }

    /// The requests of an app that wait, in the order in which they were added.
    package func requests(app: BundleID) throws -> [NotificationRequest] { try pending(app: app).map(\.request) }

    /// The requests that wait, of one app or of all, in the order in which they were added.
    package func pending(app: BundleID? = nil) throws -> [PendingRequest] {
        guard let app else { return try PendingRequest.fetch(database, condition: "true ORDER BY key") }
        return try PendingRequest.fetch(database, condition: "app = ? ORDER BY key", arguments: [app])
    }

    /// The keys of the requests that wait, of one app or of all.
    package func pendingKeys(app: BundleID? = nil) throws -> Set<RequestKey> {
        guard let app else {
            return Set(try RequestKey.fetchAll(database.cachedStatement(sql: "SELECT key FROM pending")))
        }
        let statement = try database.cachedStatement(sql: "SELECT key FROM pending WHERE app = ?")
        return Set(try RequestKey.fetchAll(statement, arguments: [app]))
    }

    /// The request with this key; `nil` where it waits no longer.
    package func pending(key: RequestKey) throws -> PendingRequest? {
        try PendingRequest.fetch(database, condition: "key = ?", arguments: [key]).first
    }

    /// The numbers of an app's requests that are done, of those that this run of it made.
    package func done(app: BundleID, run: String) throws -> Set<Int64> {
        Set(
            try Int64.fetchAll(
                database.cachedStatement(sql: "SELECT request FROM done WHERE app = ? AND run = ?"),
                arguments: [app, run]))
    }

    /// The paths of the attachments that are still needed. These are the attachments of scheduled requests, and of
    /// notifications that are listed, on the screen or queued for it, or not yet handled by their apps.
    ///
    /// Throws where one of them cannot be decoded, too: otherwise its files would be deleted as unused.
    package func attachmentPaths() throws -> Set<String> {
        let contents: [NotificationContent] =
            try String.fetchAll(
                database.cachedStatement(
                    sql: """
                        SELECT content FROM notification AS n WHERE content LIKE '%"attachments"%' AND (
                            listed_at IS NOT NULL OR handed_at IS NULL OR handle IS NOT NULL OR presentation = 1
                            OR EXISTS (SELECT 1 FROM response WHERE notification = n.id AND handled_at IS NULL))
                        """)
            ).compactMap { try JSONText.decoded($0, what: "what a notification says, which names files,") }
        let requests: [NotificationRequest] =
            try String.fetchAll(
                database.cachedStatement(sql: "SELECT request FROM pending WHERE request LIKE '%\"attachments\"%'")
            )
            .compactMap { try JSONText.decoded($0, what: "a request that waits, which names files,") }
        return Set((contents + requests.map(\.content)).flatMap(\.attachments).map(\.path))
    }

    /// A setting for all apps, by a name such as ``QuietHours/name``; `nil` where it was never set.
    package func preference(_ name: String) throws -> String? {
        try String.fetchOne(
            database.cachedStatement(sql: "SELECT value FROM preference WHERE name = ?"), arguments: [name])
    }

    /// The stored authorization and settings of an app; the default record, where nothing is stored.
    ///
    /// Throws also where the record cannot be decoded: the next change would overwrite it.
    package func standing(app: BundleID) throws -> AppNotificationRecord {
        let text = try String.fetchOne(
            database.cachedStatement(sql: "SELECT standing FROM standing WHERE app = ?"), arguments: [app])
        return try JSONText.decoded(text, what: "what is settled for \(app)") ?? AppNotificationRecord()
    }

    /// The questions for authorization that were open when this store was last used: the app, and the presenter's
    /// handle.
    package func questions() throws -> [(app: BundleID, handle: String)] {
        try Row.fetchAll(database.cachedStatement(sql: "SELECT app, handle FROM question")).map { ($0[0], $0[1]) }
    }

    /// The Live Activities of all apps; those of a later version, which cannot be decoded, are left out.
    package func liveActivities() throws -> [LiveActivityRecord] {
        try String.fetchAll(database.cachedStatement(sql: "SELECT record FROM live_activity")).compactMap {
            JSONText.read($0)
        }
    }

    /// The oldest intents, at most `limit` of them, in order of arrival.
    package func wanted(limit: Int) throws -> [WaitingNotification] {
        try WaitingNotification.fetch(database, condition: "presentation = 1", arguments: [], limit: limit)
    }

    /// The ids of all intents.
    package func wantedIDs() throws -> [NotificationID] {
        try Int64.fetchAll(database.cachedStatement(sql: "SELECT id FROM notification WHERE presentation = 1"))
            .map(NotificationID.init(rawValue:))
    }

    /// The newest notifications that were on the screen when this store was last used: at most `limit`, oldest first.
    package func shown(limit: Int) throws -> [WaitingNotification] {
        let first =
            try Int64.fetchOne(
                database.cachedStatement(
                    sql:
                        "SELECT sequence FROM notification WHERE handle IS NOT NULL ORDER BY sequence DESC LIMIT 1 OFFSET ?"
                ), arguments: [limit - 1]) ?? 0
        return try WaitingNotification.fetch(
            database, condition: "handle IS NOT NULL AND sequence >= ?", arguments: [first], limit: limit)
    }

    /// The newest notifications that are on the screen, queued for it, or listed since they could not be shown: at most
    /// `limit`, oldest first.
    package func visible(limit: Int) throws -> [WaitingNotification] {
        try WaitingNotification.fetch(
            database,
            condition: """
                sequence IN (
                    SELECT sequence FROM notification
                    WHERE handle IS NOT NULL OR presentation = 1 OR presentation = 3 AND listed_at IS NOT NULL
                    ORDER BY sequence DESC LIMIT ?)
                """, arguments: [limit], limit: limit)
    }

    /// The receipts that the server has not confirmed, with their places in the outbox: the first `limit` after a
    /// place.
    package func receipts(after sequence: OutboxPlace, limit: Int) throws -> [(sequence: OutboxPlace, receipt: Receipt)]
    {
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
