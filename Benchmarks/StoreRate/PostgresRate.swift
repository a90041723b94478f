import Foundation
import PostgresStore
import PushCore
import PushServer

/// The rate of acceptances on PostgreSQL as any node makes them: batches of 512 to a million devices at random, whose mailboxes
/// are locked and get ids, and then the acknowledgements. One connection; the time is that of the server's process for it.
enum PostgresRate {
    private static let devices = 1_000_000
    private static let batch = 512

    static func measure(_ folder: String, rows: Int) throws -> [String: Any] {
        let connection = try PostgresConnection(["host": folder, "user": "postgres", "dbname": "postgres"])
        try PostgresSchema.migrate(connection)
        let writer = try MailboxLocks(connection)
        let all = (1...devices).compactMap { DeviceID(UInt64($0)) }
        for start in stride(from: 0, to: devices, by: 10_000) {
            try writer.addMailboxes(Array(all[start..<min(start + 10_000, devices)]))
        }
        for statement in ["VACUUM ANALYZE mailbox", "CHECKPOINT"] { try connection.execute(statement) }
        let process = connection.processID
        var accepted: [(id: NotificationID, device: DeviceID)] = []
        accepted.reserveCapacity(rows)
        let (begin, used) = (ContinuousClock.now, StoreRate.processorSeconds(of: process))
        var random = SystemRandomNumberGenerator()
        while accepted.count < rows {
            accepted += try accept(min(batch, rows - accepted.count), of: all, after: accepted.count, writer, &random)
        }
        let (seconds, middle) = (StoreRate.seconds(since: begin), StoreRate.processorSeconds(of: process))
        try acknowledge(accepted, writer)
        let last = StoreRate.processorSeconds(of: process)
        let count = Double(rows)
        return [
            "postgresRowsPerSecond": count / seconds, "postgresAcceptanceMicroseconds": (middle - used) * 1e6 / count,
            "postgresLifeMicroseconds": (last - used) * 1e6 / count,
        ]
    }

    /// Accepts one batch. One connection meets no deadlock, and nothing is tried again.
    private static func accept(
        _ count: Int, of devices: [DeviceID], after number: Int, _ writer: MailboxLocks,
        _ random: inout SystemRandomNumberGenerator
    ) throws -> [(id: NotificationID, device: DeviceID)] {
        var counts: [DeviceID: Int] = [:]
        for _ in 0..<count { counts[devices[Int.random(in: devices.indices, using: &random)], default: 0] += 1 }
        let now = Timestamp(rawValue: Int64(Date().timeIntervalSince1970 * 1000))
        let reserved = try writer.reserve(counts, at: now)
        let payload = [UInt8](repeating: UInt8(ascii: " "), count: 300)
        var made: [(id: NotificationID, device: DeviceID)] = []
        var changes: [RowChange] = []
        for mailbox in reserved {
            for step in 0..<Int64(counts[mailbox.device] ?? 0) {
                // The bits of the node and of the counter keep ids of one instant apart.
                let counter = Int64((number + made.count) & 0x1FFF)
                let id = NotificationID(rawValue: (mailbox.lastInstant - step) << 22 | 1 << 13 | counter)
                made.append((id, mailbox.device))
                changes.append(.insertNotification(StoreRate.record(id, mailbox.device, now, payload)))
            }
        }
        try writer.commit(FoldedBatch(changes))
        return made
    }

    private static func acknowledge(
        _ accepted: [(id: NotificationID, device: DeviceID)], _ writer: MailboxLocks
    ) throws {
        let now = Timestamp(rawValue: Int64(Date().timeIntervalSince1970 * 1000))
        for start in stride(from: 0, to: accepted.count, by: batch) {
            let changes = accepted[start..<min(start + batch, accepted.count)].flatMap { one in
                [
                    .removeWaiting(one.id, of: one.device),
                    .appendLine(TimelineEntry(at: now, state: .acked, source: .server), to: one.id),
                ] as [RowChange]
            }
            try writer.commit(FoldedBatch(changes), begins: true)
        }
    }
}
