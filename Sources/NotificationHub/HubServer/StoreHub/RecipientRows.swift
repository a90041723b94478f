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

extension RecipientRows {
    /// Reads rows.
    static func select(
        _ condition: String, _ parameters: [SQLParameter], _ sql: any SQLConnection
    ) throws -> [SendRecipient] {
        try sql.execute("SELECT * FROM send_recipient WHERE \(condition)", parameters).rows
            .compactMap { try SendRecipient($0) }
    }

    /// Reads rows of an installation with the numbers of their sends.
    static func all(
        of installation: UInt32, where condition: String, _ sql: any SQLConnection
    ) throws -> [(send: Int64, recipient: SendRecipient)] {
        try sql.rows("SELECT * FROM send_recipient WHERE installation = ? \(condition)", installation)
            .compactMap { row -> (send: Int64, recipient: SendRecipient)? in
                guard let recipient = try SendRecipient(row) else { return nil }
                return (try row["send"], recipient)
            }
    }

    static func update(
        _ recipients: [SendRecipient], of send: Int64, lookedUpAt now: Timestamp, _ sql: any SQLConnection
    ) throws {
        _ = try sql.execute(
            """
            UPDATE send_recipient SET ending = ?, reached = ?, looked_up_at = ?
            WHERE send = ? AND installation = ? AND part = ?
            """,
            each: recipients.map { recipient in
                let lookedUpAt: Timestamp? = recipient.end.isFinal ? nil : now
                return [
                    recipient.end.rawValue.parameter, recipient.reached.rawValue.parameter, lookedUpAt.parameter,
                    send.parameter, recipient.installation.parameter, recipient.part.parameter,
                ]
            })
    }

    static func matchDeleted(_ count: Int, of part: SendPart, _ sql: any SQLConnection) throws {
        let ofPart = "FROM send_recipient WHERE send = ? AND list = ? AND"
        let gone = try sql.rows(
            "SELECT installation \(ofPart) installation <> 0 AND reason = 'Gone' AND attempts = 0 LIMIT ?", part.send,
            part.number, count)
        let copies = try sql.rows(
            "SELECT part \(ofPart) installation = 0 ORDER BY part LIMIT ?", part.send, part.number, count)
        for (member, copy) in zip(gone, copies) {
            let (installation, name): (Int64, String) = (try member["installation"], try copy["part"])
            try sql.run(
                "DELETE FROM send_recipient WHERE send = ? AND installation = ? AND part = ''", part.send, installation)
            try sql.run(
                "UPDATE send_recipient SET installation = ?, part = '' WHERE send = ? AND installation = 0 AND part = ?",
                installation, part.send, name)
        }
    }

    static func count(
        ofSend send: Int64, _ sql: any SQLConnection
    ) throws -> (counts: [RecipientCount], installations: Int, byPart: [Int64: PartRows]) {
        // Each row with a deleted installation counts as one installation.
        let installations: Int? = try sql.row(
            """
            SELECT COUNT(DISTINCT NULLIF(installation, 0)) + COUNT(*) FILTER (WHERE installation = 0) AS count
            FROM send_recipient WHERE send = ?
            """, send)?["count"]
        let byPart: [(Int64, PartRows)] = try sql.rows(
            """
            SELECT list, COUNT(*) AS count, COUNT(*) FILTER (WHERE installation = 0) AS ownerless FROM send_recipient
            WHERE send = ? AND list IS NOT NULL GROUP BY list
            """, send
        ).map { (try $0["list"], PartRows(count: try $0["count"], ownerless: try $0["ownerless"])) }
        let counts = try sql.rows(
            """
            SELECT platform, locale, app_version, variant, outcome, reason, ending, reached, attempts > 0 AS tried,
                COUNT(*) AS count
            FROM send_recipient WHERE send = ? GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
            """, send
        ).compactMap { try RecipientCount($0) }
        return (counts, installations ?? 0, Dictionary(byPart, uniquingKeysWith: { $1 }))
    }
}

extension RecipientCount {
    fileprivate init?(_ row: any SQLRow) throws {
        guard let platform = HubPlatform(rawValue: try row["platform"]),
            let end = SendReport.End(rawValue: try row["ending"])
        else { return nil }
        self.init(
            platform: platform, locale: try row["locale"], appVersion: try row["app_version"],
            variant: try row["variant"], outcome: (try row["outcome"] as String?).flatMap(SendOutcome.init),
            reason: try row["reason"], end: end, reached: .init(rawValue: try row["reached"]),
            isTried: try row["tried"], count: try row["count"])
    }
}

extension SendRecipient {
    /// The row without its identity, if the installation was deleted.
    func nameless(_ gone: Set<UInt32>) -> SendRecipient {
        guard gone.contains(installation) else { return self }
        var row = self
        (row.name, row.locale) = ("", nil)
        if row.retryAt != nil { (row.end, row.reason, row.retryAt) = (.ineligible, "Gone", nil) }
        return row
    }

    /// Creates the recipient from a row; `nil` for a row that this code did not write.
    init?(_ row: any SQLRow) throws {
        guard let number = UInt32(exactly: try row["installation"] as Int64),
            let platform = HubPlatform(rawValue: try row["platform"]),
            let end = SendReport.End(rawValue: try row["ending"])
        else { return nil }
        self.init(
            installation: number, part: try row["part"], name: try row["name"], platform: platform,
            locale: try row["locale"], appVersion: try row["app_version"],
            outcome: (try row["outcome"] as String?).flatMap(SendOutcome.init), reason: try row["reason"], end: end,
            at: try row["at"], attempts: try row["attempts"], firstAt: try row["first_at"],
            retryAt: try row["retry_at"])
        reached = Reached(rawValue: try row["reached"])
        list = try row["list"]
        variant = try row["variant"]
        notification = try row["notification"]
    }
}
