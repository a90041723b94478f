import HubProtocol
import PushCore
import PushServer

/// The rows of sends' recipients.
extension HubDatabase {
    /// Reads rows by the index of retries.
    package func dueRetries(of send: Int64, at now: Timestamp, limit: Int) async throws -> [SendRecipient] {
        try await database.read { sql in
            try sql.rows(
                """
                SELECT * FROM send_recipient WHERE send = ? AND retry_at IS NOT NULL AND retry_at <= ?
                ORDER BY retry_at LIMIT ?
                """, send, now, limit
            ).compactMap { try SendRecipient($0) }
        }
    }

    /// Reads a page by the primary key.
    package func recipients(
        of send: Int64, after place: (installation: UInt32, part: String)?, limit: Int
    ) async throws -> [SendRecipient] {
        try await database.read { sql in
            try sql.rows(
                """
                SELECT * FROM send_recipient WHERE send = ? AND (installation, part) > (?, ?)
                ORDER BY installation, part LIMIT ?
                """, send, place.map { Int64($0.installation) } ?? -1, place?.part ?? "", limit
            ).compactMap { try SendRecipient($0) }
        }
    }

    /// Reads rows by the index of those without a final end.
    package func openRecipients(
        of send: Int64, lookedUpBefore instant: Timestamp, limit: Int
    ) async throws -> [SendRecipient] {
        try await database.read { sql in
            try sql.rows(
                """
                SELECT * FROM send_recipient WHERE send = ? AND looked_up_at IS NOT NULL AND looked_up_at < ?
                ORDER BY looked_up_at LIMIT ?
                """, send, instant, limit
            ).compactMap { try SendRecipient($0) }
        }
    }

    /// Reads rows by the index of installations.
    package func openRecipients(for installation: UInt32) async throws -> [(send: Int64, recipient: SendRecipient)] {
        try await recipients(for: installation, where: "AND ending IN ('waiting', 'delivered', 'presented')")
    }

    /// Reads rows by the index of their installations.
    package func recipients(for installation: UInt32) async throws -> [(send: Int64, recipient: SendRecipient)] {
        try await recipients(for: installation, where: "ORDER BY send, part")
    }

    private func recipients(
        for installation: UInt32, where condition: String
    ) async throws -> [(send: Int64, recipient: SendRecipient)] {
        try await database.read { sql in
            try sql.rows("SELECT * FROM send_recipient WHERE installation = ? \(condition)", installation)
                .compactMap { row -> (send: Int64, recipient: SendRecipient)? in
                    guard let recipient = try SendRecipient(row) else { return nil }
                    return (try row["send"], recipient)
                }
        }
    }

    /// Updates the rows in one transaction.
    package func updateRecipients(_ recipients: [SendRecipient], of send: Int64, lookedUpAt now: Timestamp) async throws
    {
        try await database.write { sql in
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
    }

    /// Pairs the rows of deleted members, which have the reason `Gone`, with the rows of copies without an owner.
    package func matchDeletedRecipients(_ count: Int, of part: SendSegment) async throws {
        let ofPart = "FROM send_recipient WHERE send = ? AND list = ? AND"
        try await change(send: part.send) { sql in
            let gone = try sql.rows(
                "SELECT installation \(ofPart) installation <> 0 AND reason = 'Gone' AND attempts = 0 LIMIT ?",
                part.send, part.number, count)
            let copies = try sql.rows(
                "SELECT part \(ofPart) installation = 0 ORDER BY part LIMIT ?", part.send, part.number, count)
            for (member, copy) in zip(gone, copies) {
                let (installation, name): (Int64, String) = (try member["installation"], try copy["part"])
                try sql.run(
                    "DELETE FROM send_recipient WHERE send = ? AND installation = ? AND part = ''", part.send,
                    installation)
                try sql.run(
                    """
                    UPDATE send_recipient SET installation = ?, part = '' WHERE send = ? AND installation = 0 AND part = ?
                    """, installation, part.send, name)
            }
        }
    }

    /// Counts rows by all properties that reports distinguish.
    package func recipientCounts(
        of send: Int64
    ) async throws -> (counts: [RecipientCount], installations: Int, byPart: [Int64: PartRows]) {
        try await database.read { sql in
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

    /// Reads the numbers by the primary key.
    package func installationsWithRow(ofSend send: Int64) async throws -> Bitmap {
        try await database.read { try RecipientRows.installationsWithRow(ofSend: send, $0) }
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
