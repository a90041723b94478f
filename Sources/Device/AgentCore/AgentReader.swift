import AgentWire
import Foundation
import GRDB
import PushModel

/// A notification of the store, as far as handing over and presenting need it.
struct WaitingNotification: Sendable, Hashable {
    /// Its place in the order of arrival.
    var sequence: Int64
    var id: NotificationID
    var app: String
    var apnsID: String
    var identifier: String
    var payload: [UInt8]
    var acceptedAt: Timestamp
    var handle: String?
    /// What an app's own notification says, and what made it appear.
    var content: NotificationContent?
    var trigger: NotificationTrigger?
    var shows: StoreChange.Showing = [.screen, .list, .sound]

    static func fetch(
        _ database: Database, _ condition: String, _ arguments: StatementArguments, limit: Int?
    ) throws -> [WaitingNotification] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT sequence, id, app, apns_id, identifier, payload, accepted_at, handle, content, trigger, shows
                FROM notification AS n WHERE \(condition) ORDER BY sequence\(limit.map { " LIMIT \($0)" } ?? "")
                """)
        return try Row.fetchAll(statement, arguments: arguments).map(WaitingNotification.init)
    }

    private init(_ row: Row) {
        sequence = row[0]
        id = NotificationID(rawValue: row[1])
        app = row[2]
        apnsID = row[3]
        identifier = row[4]
        payload = [UInt8](row[5] as Data)
        acceptedAt = Timestamp(rawValue: row[6])
        handle = row[7]
        content = JSONText.read(row[8])
        trigger = JSONText.read(row[9])
        shows = StoreChange.Showing(rawValue: row[10])
    }

    init(
        sequence: Int64, id: NotificationID, app: String, apnsID: String, identifier: String, payload: [UInt8],
        acceptedAt: Timestamp
    ) {
        self.sequence = sequence
        self.id = id
        self.app = app
        self.apnsID = apnsID
        self.identifier = identifier
        self.payload = payload
        self.acceptedAt = acceptedAt
    }

    /// What it says, wherever that is written.
    var says: NotificationContent {
        content ?? NotificationContent(payload: String(decoding: payload, as: UTF8.self))
    }

    /// The form in which apps get it.
    var delivered: DeliveredNotification {
        DeliveredNotification(
            id: id.rawValue, identifier: identifier, apnsID: id.rawValue > 0 ? apnsID : nil, topic: app,
            date: acceptedAt.rawValue, payload: String(decoding: payload, as: UTF8.self), content: content,
            trigger: trigger)
    }

    /// The handlers that an active app gets it with.
    var kind: DeliveryKind {
        content == nil ? PayloadDelivery(payload: String(decoding: payload, as: UTF8.self)).kind : .foreground
    }
}

/// A response that an app has not handled yet.
struct WaitingResponse: Sendable, Hashable {
    var sequence: Int64
    var notification: WaitingNotification
    var action: String
    var text: String?
}

/// What the store knows of an app's registration.
enum Registration: Sendable, Hashable {
    case unknown
    case token(String)
    /// The app ended it, and has not asked for a new one.
    case ended
}

/// What the agent reads of its store.
struct AgentReader {
    let database: Database

    func identity() throws -> DeviceIdentity? {
        guard let row = try Row.fetchOne(database, sql: "SELECT device, secret FROM identity") else { return nil }
        let (device, secret): (Int64, Int64) = (row[0], row[1])
        return DeviceID(UInt64(bitPattern: device)).map {
            DeviceIdentity(device: $0, secret: UInt64(bitPattern: secret))
        }
    }

    func registration(app: String, environment: PushEnvironment) throws -> Registration {
        let row = try Row.fetchOne(
            database, sql: "SELECT token FROM registration WHERE app = ? AND environment = ?",
            arguments: [app, environment.rawValue])
        guard let row else { return .unknown }
        let token: String? = row[0]
        return token.map { .token($0) } ?? .ended
    }

    /// The apps that the server has tokens of, with their teams where these are known.
    func registeredApps(environment: PushEnvironment) throws -> [(app: String, team: TeamID?)] {
        try Row.fetchAll(
            database, sql: "SELECT app, team FROM registration WHERE environment = ? AND token IS NOT NULL",
            arguments: [environment.rawValue]
        ).map { row in (row[0], (row[1] as String?).map(TeamID.init(rawValue:))) }
    }

    /// The apps of which anything is stored.
    func knownApps() throws -> Set<String> {
        Set(
            try String.fetchAll(
                database,
                sql: """
                    SELECT app FROM pending UNION SELECT app FROM standing UNION SELECT app FROM done
                    """)
        ).union(try appsWithNotifications())
    }

    /// The apps that notifications are stored of; looks at one of each.
    func appsWithNotifications() throws -> Set<String> {
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
    func unconfirmed() throws -> [NotificationID] {
        try Int64.fetchAll(database, sql: "SELECT id FROM unconfirmed ORDER BY id").map(NotificationID.init(rawValue:))
    }

    /// What waits to be handed to an app, in order of arrival, after a place in it.
    ///
    /// One that was tapped and whose response still waits is left out: it reaches the app with the response.
    func waiting(app: String, after sequence: Int64, limit: Int) throws -> [WaitingNotification] {
        try WaitingNotification.fetch(
            database,
            """
            app = ? AND handed_at IS NULL AND sequence > ?
                AND NOT EXISTS (SELECT 1 FROM response WHERE notification = n.id AND handled_at IS NULL)
            """, [app, sequence], limit: limit)
    }

    /// Whether something waits for an app that it is started for where it does not run.
    func hasWaking(app: String) throws -> Bool {
        try Bool.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT EXISTS (
                        SELECT 1 FROM notification AS n INDEXED BY notification_waking
                        WHERE app = ? AND handed_at IS NULL AND deferred_at IS NOT 0
                            AND NOT EXISTS (SELECT 1 FROM response WHERE notification = n.id AND handled_at IS NULL))
                    """), arguments: [app]) ?? false
    }

    func waitingResponses(app: String, after sequence: Int64, limit: Int) throws -> [WaitingResponse] {
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

    func isListed(_ id: NotificationID) throws -> Bool {
        try Bool.fetchOne(
            database, sql: "SELECT listed_at IS NOT NULL FROM notification WHERE id = ?", arguments: [id.rawValue])
            ?? false
    }

    /// Whether it has arrived before, whatever became of it.
    func isKnown(_ id: NotificationID) throws -> Bool {
        try Bool.fetchOne(
            database,
            sql:
                "SELECT EXISTS (SELECT 1 FROM unconfirmed WHERE id = ?1) OR EXISTS (SELECT 1 FROM notification WHERE id = ?1)",
            arguments: [id.rawValue]) ?? false
    }

    /// Whether its app has not handled it yet.
    func isUnhandled(_ id: NotificationID) throws -> Bool {
        try Bool.fetchOne(
            database, sql: "SELECT handed_at IS NULL FROM notification WHERE id = ?", arguments: [id.rawValue]) ?? false
    }

    func notification(_ id: NotificationID) throws -> WaitingNotification? {
        try WaitingNotification.fetch(database, "id = ?", [id.rawValue], limit: 1).first
    }

    /// What is in an app's list, oldest first; the newest `limit`.
    func listed(app: String, limit: Int) throws -> [WaitingNotification] {
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
    func listedCount(app: String) throws -> Int {
        try Int.fetchOne(
            database, sql: "SELECT count(*) FROM notification WHERE app = ? AND listed_at IS NOT NULL",
            arguments: [app]) ?? 0
    }

    /// What an app has scheduled, in the order in which it was added.
    func requests(app: String) throws -> [NotificationRequest] { try pending(app: app).map(\.request) }

    /// What waits, of one app or of all, in the order in which it was added.
    func pending(app: String? = nil) throws -> [PendingRequest] {
        guard let app else { return try PendingRequest.fetch(database, "true ORDER BY key") }
        return try PendingRequest.fetch(database, "app = ? ORDER BY key", [app])
    }

    /// The keys of all that waits, of one app or of all.
    func pendingKeys(app: String? = nil) throws -> Set<Int64> {
        guard let app else { return Set(try Int64.fetchAll(database, sql: "SELECT key FROM pending")) }
        let statement = try database.cachedStatement(sql: "SELECT key FROM pending WHERE app = ?")
        return Set(try Int64.fetchAll(statement, arguments: [app]))
    }

    /// One request that waits.
    func pending(key: Int64) throws -> PendingRequest? {
        try PendingRequest.fetch(database, "key = ?", [key]).first
    }

    /// Which requests of a run of an app are done.
    func done(app: String, run: String) throws -> Set<Int64> {
        Set(
            try Int64.fetchAll(
                database, sql: "SELECT request FROM done WHERE app = ? AND run = ?", arguments: [app, run]))
    }

    /// The files that notifications of the list, on the screen, on their way or scheduled name.
    func attachmentPaths() throws -> Set<String> {
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

    func preference(_ name: String) throws -> String? {
        try String.fetchOne(database, sql: "SELECT value FROM preference WHERE name = ?", arguments: [name])
    }

    func standing(app: String) throws -> AppNotificationRecord {
        JSONText.read(
            try String.fetchOne(database, sql: "SELECT standing FROM standing WHERE app = ?", arguments: [app]))
            ?? AppNotificationRecord()
    }

    /// The questions that were open when this store was last used: the app, and what the desktop calls it.
    func questions() throws -> [(app: String, handle: String)] {
        try Row.fetchAll(database, sql: "SELECT app, handle FROM question").map { ($0[0], $0[1]) }
    }

    /// The oldest of what is to be shown, in order of arrival.
    func wanted(limit: Int) throws -> [WaitingNotification] {
        try WaitingNotification.fetch(database, "presentation = 1", [], limit: limit)
    }

    /// The ids of everything that is to be shown.
    func wantedIDs() throws -> [NotificationID] {
        try Int64.fetchAll(database, sql: "SELECT id FROM notification WHERE presentation = 1")
            .map(NotificationID.init(rawValue:))
    }

    /// The newest of what was on the screen when this store was last used, oldest first.
    func shown(limit: Int) throws -> [WaitingNotification] {
        let first =
            try Int64.fetchOne(
                database,
                sql:
                    "SELECT sequence FROM notification WHERE handle IS NOT NULL ORDER BY sequence DESC LIMIT 1 OFFSET ?",
                arguments: [limit - 1]) ?? 0
        return try WaitingNotification.fetch(database, "handle IS NOT NULL AND sequence >= ?", [first], limit: limit)
    }

    /// The newest of what is on the screen, on its way there, or waits in the list for a notification server.
    func visible(limit: Int) throws -> [WaitingNotification] {
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
    func receipts(after sequence: Int64, limit: Int) throws -> [(sequence: Int64, receipt: Receipt)] {
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
