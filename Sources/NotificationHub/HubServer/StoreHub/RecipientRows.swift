import Crypto
import Foundation
import GRDB
import HubProtocol
import PushCore

/// The statements for recipients of sends, and their events.
enum RecipientRows {
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

    static let updating = """
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

    /// The installations of a slice that were deleted while it was under way: their identity is not recorded.
    static func gone(_ progress: SendProgress, _ database: Database) throws -> Set<UInt32> {
        let named = (progress.recipients + progress.unreachable).filter { $0.installation != 0 && !$0.name.isEmpty }
        let numbers = Set(named.map(\.installation))
        guard !numbers.isEmpty else { return [] }
        let list = numbers.map(String.init).joined(separator: ",")
        let found = try Int64.fetchAll(database, sql: "SELECT number FROM installation WHERE number IN (\(list))")
        return numbers.subtracting(found.compactMap { UInt32(exactly: $0) })
    }

    /// Marks a dead channel, unless it was registered again after its death.
    static func markChannelDead(
        _ dead: DeadChannel, hub: Int64, database: Database, changes: inout [AudienceChange]
    ) throws {
        guard
            let row = try Row.fetchOne(
                database, sql: "SELECT * FROM installation WHERE number = ? AND hub = ? AND channel = ?",
                arguments: [Int64(dead.installation), hub, dead.channel]), let stored = StoredInstallation(row),
            dead.diedAt.map({
                $0.rawValue == 0 || $0.rawValue >= row["registered_at"] as Int64? ?? stored.updatedAt.rawValue
            }) ?? true
        else { return }
        try InstallationRows.mark(stored, hub: hub, fault: dead.fault, database: database, changes: &changes)
    }

    /// Records an event in the transaction that causes it, if the hub has a webhook.
    static func addEvent(
        _ kind: HubEvent.Kind, data: [JSONValue.Member], hub: Int64, at now: Timestamp, database: Database
    )
        throws
    {
        try database.execute(
            sql: """
                INSERT INTO hub_event(hub, kind, data, at)
                SELECT hub, ?, ?, ? FROM hub_webhook WHERE hub = ?
                """, arguments: [kind.rawValue, JSONValue.object(data).json, now.rawValue, hub])
    }
}
