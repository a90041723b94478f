import PushCore
import PushServer

/// The statements that lock the mailboxes' rows of a batch, count the batch, and reserve ids.
///
/// They do in one statement what ``MailboxRow/reserve(_:from:)`` does with a row in memory.
enum MailboxLocks {
    typealias Lock = (key: DeviceID, value: MailboxLock)

    private static let next = """
        last_id = CASE WHEN mailbox.last_id <= $3 THEN $4
            ELSE (((mailbox.last_id >> \(NotificationIDBlock.lowBits)) + wanted.count + 1) << \(NotificationIDBlock.lowBits)) - 1
            END,
        revision = mailbox.revision + 1
        """

    private static func parameters(_ locks: [Lock], _ block: NotificationIDBlock) -> [PostgresParameter] {
        [
            .devices(locks.map(\.key)), .counts(locks.map(\.value.ids)), PostgresParameter(block.lastBefore),
            PostgresParameter(block.last),
        ]
    }

    /// Locks rows, those that exist.
    static func lock(_ locks: [Lock], _ block: NotificationIDBlock) -> PostgresConnection.Statement {
        .init(
            """
            UPDATE mailbox SET \(next)
            FROM unnest($1::bigint[], $2::bigint[]) AS wanted(device, count) WHERE mailbox.device = wanted.device
            RETURNING mailbox.device, last_id, revision, node::bigint, epoch
            """, parameters(locks, block))
    }

    /// Adds rows; one that another node has added meanwhile is locked, and gets ids after its last one.
    static func add(_ locks: [Lock], _ block: NotificationIDBlock) -> PostgresConnection.Statement {
        .init(
            """
            INSERT INTO mailbox(device, last_id, revision)
            SELECT device, $4, 1 FROM unnest($1::bigint[], $2::bigint[]) AS wanted(device, count)
                WHERE count >= 0 AND $3 < $4
            ON CONFLICT (device) DO UPDATE SET last_id =
                    (((mailbox.last_id >> \(NotificationIDBlock.lowBits)) + \(longestStep)) << \(NotificationIDBlock.lowBits)) - 1,
                revision = mailbox.revision + 1
            RETURNING device, last_id, revision, node::bigint, epoch
            """, parameters(locks, block))
    }

    /// More ids than a device gets in one batch.
    private static let longestStep = 2048

    /// The rows that a statement has locked.
    static func rows(_ rows: PostgresRows) throws -> [DeviceID: MailboxRow] {
        var found: [DeviceID: MailboxRow] = [:]
        for row in rows {
            let node: Int? = try row[3]
            found[try row[0]] = MailboxRow(
                lastID: try row[1], revision: try row[2], node: node.flatMap { UInt16(exactly: $0) },
                epoch: UInt64(clamping: try row[4] as Int64))
        }
        return found
    }
}
