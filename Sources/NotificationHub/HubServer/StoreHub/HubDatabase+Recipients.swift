import Foundation
import GRDB
import HubProtocol
import PushCore

extension HubDatabase {
    /// Writes rows of recipients; an existing row is changed.
    ///
    /// A traced notification gets more events later, so its row is to be looked up.
    ///
    /// - Parameter keeps: Whether an existing row stays as it is.
    static func write(
        _ recipients: [SendRecipient], of send: Int64, keeps: Bool = false, _ database: Database
    ) throws {
        guard !recipients.isEmpty else { return }
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO send_recipient(send, installation, part, name, platform, locale, app_version, outcome, reason,
                    ending, reached, at, attempts, first_at, retry_at, looked_up_at, list, notification, variant)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO \(keeps ? "NOTHING" : updating)
                """)
        for recipient in recipients {
            try statement.execute(
                arguments: [
                    send, Int64(recipient.installation), recipient.part, recipient.name, recipient.platform.rawValue,
                    recipient.locale, recipient.appVersion, recipient.outcome?.rawValue, recipient.reason,
                    recipient.end.rawValue, recipient.reached.rawValue, recipient.at.rawValue, recipient.attempts,
                    recipient.firstAt.rawValue, recipient.retryAt?.rawValue,
                    recipient.isTraced ? 0 : nil, recipient.list, recipient.notification?.rawValue, recipient.variant,
                ])
        }
    }

    private static let updating = """
        UPDATE SET outcome = excluded.outcome, reason = excluded.reason, ending = excluded.ending,
            reached = excluded.reached, at = excluded.at, attempts = excluded.attempts,
            first_at = excluded.first_at, retry_at = excluded.retry_at, looked_up_at = excluded.looked_up_at,
            list = excluded.list, notification = excluded.notification
        """

    static func nextRetry(of send: Int64, _ database: Database) throws -> Int64? {
        try Int64.fetchOne(
            database, sql: "SELECT MIN(retry_at) FROM send_recipient WHERE send = ? AND retry_at IS NOT NULL",
            arguments: [send])
    }

    /// Ends the retries of a send that ended.
    static func endRetries(of send: Int64, word: String, _ database: Database) throws {
        try database.execute(
            sql: """
                UPDATE send_recipient SET ending = ?, reason = ?, retry_at = NULL
                WHERE send = ? AND retry_at IS NOT NULL
                """, arguments: [SendReport.End.ended.rawValue, word, send])
    }

    /// Reads rows by the index of retries.
    package func dueRetries(of send: Int64, at now: Timestamp, limit: Int) async throws -> [SendRecipient] {
        try await pool.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM send_recipient WHERE send = ? AND retry_at IS NOT NULL AND retry_at <= ?
                    ORDER BY retry_at LIMIT ?
                    """, arguments: [send, now.rawValue, limit]
            ).compactMap(SendRecipient.init)
        }
    }

    /// Reads a page by the primary key.
    package func recipients(
        of send: Int64, after place: (installation: UInt32, part: String)?, limit: Int
    ) async throws -> [SendRecipient] {
        try await pool.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM send_recipient WHERE send = ? AND (installation, part) > (?, ?)
                    ORDER BY installation, part LIMIT ?
                    """, arguments: [send, place.map { Int64($0.installation) } ?? -1, place?.part ?? "", limit]
            ).compactMap(SendRecipient.init)
        }
    }

    /// Reads rows by the index of those without a final end.
    package func openRecipients(
        of send: Int64, lookedUpBefore instant: Timestamp, limit: Int
    ) async throws -> [SendRecipient] {
        try await pool.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM send_recipient WHERE send = ? AND looked_up_at IS NOT NULL AND looked_up_at < ?
                    ORDER BY looked_up_at LIMIT ?
                    """, arguments: [send, instant.rawValue, limit]
            ).compactMap(SendRecipient.init)
        }
    }

    /// Reads rows by the index of installations.
    package func openRecipients(for installation: UInt32) async throws -> [(send: Int64, recipient: SendRecipient)] {
        try await pool.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM send_recipient
                    WHERE installation = ? AND ending IN ('waiting', 'delivered', 'presented')
                    """, arguments: [Int64(installation)]
            ).compactMap { row -> (send: Int64, recipient: SendRecipient)? in
                guard let recipient = SendRecipient(row) else { return nil }
                return (row["send"], recipient)
            }
        }
    }

    /// Updates the rows in one transaction.
    package func note(_ recipients: [SendRecipient], of send: Int64, lookedUpAt now: Timestamp) async throws {
        try await pool.write { database in
            let statement = try database.cachedStatement(
                sql: """
                    UPDATE send_recipient SET ending = ?, reached = ?, looked_up_at = ?
                    WHERE send = ? AND installation = ? AND part = ?
                    """)
            for recipient in recipients {
                try statement.execute(
                    arguments: [
                        recipient.end.rawValue, recipient.reached.rawValue, recipient.end.isFinal ? nil : now.rawValue,
                        send, Int64(recipient.installation), recipient.part,
                    ])
            }
        }
    }

    /// Pairs the rows of deleted members, which have the reason `Gone`, with the rows of copies without an owner.
    package func matchDeletedRecipients(_ count: Int, of part: SendSegment) async throws {
        let ofPart = "FROM send_recipient WHERE send = ? AND list = ? AND"
        try await pool.write { database in
            let gone = try Int64.fetchAll(
                database,
                sql: "SELECT installation \(ofPart) installation <> 0 AND reason = 'Gone' AND attempts = 0 LIMIT ?",
                arguments: [part.send, part.number, count])
            let copies = try String.fetchAll(
                database, sql: "SELECT part \(ofPart) installation = 0 ORDER BY part LIMIT ?",
                arguments: [part.send, part.number, count])
            for (installation, copy) in zip(gone, copies) {
                try database.execute(
                    sql: "DELETE FROM send_recipient WHERE send = ? AND installation = ? AND part = ''",
                    arguments: [part.send, installation])
                try database.execute(
                    sql: """
                        UPDATE send_recipient SET installation = ?, part = '' WHERE send = ? AND installation = 0 AND part = ?
                        """, arguments: [installation, part.send, copy])
            }
        }
    }

    /// Counts rows by all properties that reports distinguish.
    package func recipientCounts(
        of send: Int64
    ) async throws -> (counts: [RecipientCount], installations: Int, byPart: [Int64: PartRows]) {
        try await pool.read { database in
            // Each row with a deleted installation counts as one installation.
            let installations = try Int.fetchOne(
                database,
                sql: """
                    SELECT COUNT(DISTINCT NULLIF(installation, 0)) + COUNT(*) FILTER (WHERE installation = 0)
                    FROM send_recipient WHERE send = ?
                    """, arguments: [send])
            let byPart = try Row.fetchAll(
                database,
                sql: """
                    SELECT list, COUNT(*), COUNT(*) FILTER (WHERE installation = 0) FROM send_recipient
                    WHERE send = ? AND list IS NOT NULL GROUP BY list
                    """, arguments: [send]
            ).map { ($0[0] as Int64, PartRows(count: $0[1], ownerless: $0[2])) }
            let counts = try Row.fetchAll(
                database,
                sql: """
                    SELECT platform, locale, app_version, variant, outcome, reason, ending, reached, attempts > 0 AS tried,
                        COUNT(*) AS count
                    FROM send_recipient WHERE send = ? GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
                    """, arguments: [send]
            ).compactMap { row -> RecipientCount? in
                guard let platform = HubPlatform(rawValue: row["platform"]),
                    let end = SendReport.End(rawValue: row["ending"])
                else { return nil }
                return RecipientCount(
                    platform: platform, locale: row["locale"], appVersion: row["app_version"], variant: row["variant"],
                    outcome: (row["outcome"] as String?).flatMap(SendOutcome.init), reason: row["reason"], end: end,
                    reached: .init(rawValue: row["reached"]), isTried: row["tried"], count: row["count"])
            }
            return (counts, installations ?? 0, Dictionary(byPart, uniquingKeysWith: { $1 }))
        }
    }

    /// Reads the numbers by the primary key.
    package func installationsWithRow(ofSend send: Int64) async throws -> Bitmap {
        try await pool.read { try Self.installationsWithRow(ofSend: send, $0) }
    }

    static func installationsWithRow(ofSend send: Int64, _ database: Database) throws -> Bitmap {
        var found = Bitmap()
        let rows = try Row.fetchCursor(
            database, sql: "SELECT installation FROM send_recipient WHERE send = ? AND installation > 0",
            arguments: [send])
        while let row = try rows.next() {
            if let number = UInt32(exactly: row[0] as Int64) { found.insert(number) }
        }
        return found
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
    init?(_ row: Row) {
        guard let number = UInt32(exactly: row["installation"] as Int64),
            let platform = HubPlatform(rawValue: row["platform"]), let end = SendReport.End(rawValue: row["ending"])
        else { return nil }
        self.init(
            installation: number, part: row["part"], name: row["name"], platform: platform, locale: row["locale"],
            appVersion: row["app_version"], outcome: (row["outcome"] as String?).flatMap(SendOutcome.init),
            reason: row["reason"], end: end, at: Timestamp(rawValue: row["at"]), attempts: row["attempts"],
            firstAt: Timestamp(rawValue: row["first_at"]),
            retryAt: (row["retry_at"] as Int64?).map { Timestamp(rawValue: $0) })
        reached = Reached(rawValue: row["reached"])
        list = row["list"]
        variant = row["variant"]
        notification = (row["notification"] as Int64?).map { NotificationID(rawValue: $0) }
    }
}
