import HubProtocol
import PushCore
import PushServer

/// The statements for recipients of sends, and their events.
enum RecipientRows {
    /// Writes rows of recipients; an existing row is changed.
    ///
    /// A traced notification gets more events later, so its row is to be looked up.
    ///
    /// - Parameter keeps: Whether an existing row stays as it is.
    static func write(
        _ recipients: [SendRecipient], of send: Int64, keeps: Bool = false, _ sql: any SQLConnection
    ) throws {
        guard !recipients.isEmpty else { return }
        _ = try sql.execute(
            """
            INSERT INTO send_recipient(send, installation, part, name, platform, locale, app_version, outcome, reason,
                ending, reached, at, attempts, first_at, retry_at, looked_up_at, list, notification, variant)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (send, installation, part) DO \(keeps ? "NOTHING" : updating)
            """, each: recipients.map { parameters($0, of: send) })
    }

    private static func parameters(_ recipient: SendRecipient, of send: Int64) -> [SQLParameter] {
        let lookedUpAt: Int64? = recipient.isTraced ? 0 : nil
        let values: [any SQLValue] = [
            send, recipient.installation, recipient.part, recipient.name, recipient.platform.rawValue,
            recipient.locale, recipient.appVersion, recipient.outcome?.rawValue, recipient.reason,
            recipient.end.rawValue, recipient.reached.rawValue, recipient.at, recipient.attempts, recipient.firstAt,
            recipient.retryAt, lookedUpAt, recipient.list, recipient.notification, recipient.variant,
        ]
        return values.map(\.parameter)
    }

    static let updating = """
        UPDATE SET outcome = excluded.outcome, reason = excluded.reason, ending = excluded.ending,
            reached = excluded.reached, at = excluded.at, attempts = excluded.attempts,
            first_at = excluded.first_at, retry_at = excluded.retry_at, looked_up_at = excluded.looked_up_at,
            list = excluded.list, notification = excluded.notification
        """

    static func nextRetry(of send: Int64, _ sql: any SQLConnection) throws -> Timestamp? {
        try sql.row(
            "SELECT MIN(retry_at) AS next FROM send_recipient WHERE send = ? AND retry_at IS NOT NULL", send)?["next"]
    }

    /// Ends the retries of a send that ended.
    static func endRetries(of send: Int64, word: String, _ sql: any SQLConnection) throws {
        try sql.run(
            """
            UPDATE send_recipient SET ending = ?, reason = ?, retry_at = NULL
            WHERE send = ? AND retry_at IS NOT NULL
            """, SendReport.End.ended.rawValue, word, send)
    }

    static func installationsWithRow(ofSend send: Int64, _ sql: any SQLConnection) throws -> Bitmap {
        try numbers(
            """
            SELECT DISTINCT installation FROM send_recipient WHERE send = ? AND installation > ?
            ORDER BY installation LIMIT ?
            """, ofSend: send, sql)
    }

    /// The numbers of installations that a query gives, a page at a time: the numbers after one, rising.
    static func numbers(_ query: String, ofSend send: Int64, _ sql: any SQLConnection) throws -> Bitmap {
        let page = 50_000
        var found = Bitmap()
        var last: Int64 = 0
        while true {
            let rows = try sql.rows(query, send, last, page)
            for row in rows {
                last = try row["installation"]
                if let number = UInt32(exactly: last) { found.insert(number) }
            }
            if rows.count < page { return found }
        }
    }

    /// The installations of a slice that were deleted while it was under way: their identity is not recorded.
    static func gone(_ progress: SendProgress, _ sql: any SQLConnection) throws -> Set<UInt32> {
        let named = (progress.recipients + progress.unreachable).filter { $0.installation != 0 && !$0.name.isEmpty }
        let numbers = Array(Set(named.map(\.installation)))
        guard !numbers.isEmpty else { return [] }
        let found = try sql.execute(
            "SELECT 1 AS one FROM installation WHERE number = ?", each: numbers.map { [$0.parameter] })
        return Set(zip(numbers, found).filter { $1.rows.isEmpty }.map(\.0))
    }

    /// Marks a dead channel, unless it was registered again after its death.
    static func markChannelDead(
        _ dead: DeadChannel, hub: Int64, _ sql: any SQLConnection, changes: inout [AudienceChange]
    ) throws {
        guard
            let row = try sql.row(
                "SELECT * FROM installation WHERE number = ? AND hub = ? AND channel = ?", dead.installation, hub,
                dead.channel), let stored = try StoredInstallation(row)
        else { return }
        let registeredAt = try row["registered_at"] as Timestamp? ?? stored.updatedAt
        if let diedAt = dead.diedAt, diedAt.rawValue != 0, diedAt < registeredAt { return }
        try InstallationRows.mark(stored, hub: hub, fault: dead.fault, sql, changes: &changes)
    }

    /// Records an event in the transaction that causes it, if the hub has a webhook.
    static func addEvent(
        _ kind: HubEvent.Kind, data: [JSONValue.Member], hub: Int64, at now: Timestamp, _ sql: any SQLConnection
    ) throws {
        try sql.run(
            """
            INSERT INTO hub_event(hub, kind, data, at)
            SELECT hub, ?, ?, ? FROM hub_webhook WHERE hub = ?
            """, kind.rawValue, JSONValue.object(data).json, now, hub)
    }
}
