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
        let address = ["host": folder, "user": "postgres", "dbname": "postgres"]
        let store = try PostgresStore(address, at: now)
        let connection = try PostgresConnection(address)
        try connection.execute("INSERT INTO mailbox(device) SELECT generate_series(1, \(devices))")
        for statement in ["VACUUM ANALYZE mailbox", "CHECKPOINT"] { try connection.execute(statement) }
        var generator = NotificationIDGenerator(node: store.node, highWater: try store.highWater())
        generator.raiseCeiling(to: .max)
        let process = try store.mailboxProcess
        var accepted: [(id: NotificationID, device: DeviceID)] = []
        accepted.reserveCapacity(rows)
        let (begin, used) = (ContinuousClock.now, StoreRate.processorSeconds(of: process))
        while accepted.count < rows {
            accepted += try accept(min(batch, rows - accepted.count), store, &generator)
        }
        let (seconds, middle) = (StoreRate.seconds(since: begin), StoreRate.processorSeconds(of: process))
        try acknowledge(accepted, store, &generator)
        let last = StoreRate.processorSeconds(of: process)
        let count = Double(rows)
        return [
            "postgresRowsPerSecond": count / seconds, "postgresAcceptanceMicroseconds": (middle - used) * 1e6 / count,
            "postgresLifeMicroseconds": (last - used) * 1e6 / count,
        ]
    }

    private static var now: Timestamp { Timestamp(rawValue: Int64(Date().timeIntervalSince1970 * 1000)) }

    /// Locks the mailboxes of a batch, as a server does before it decides.
    private static func lock(
        _ counts: [DeviceID: Int], _ store: PostgresStore, _ generator: inout NotificationIDGenerator
    ) throws -> NotificationIDBlock {
        guard let block = generator.reserve(counts.values.reduce(0, +), now: now) else { throw StoreRate.NoIDs() }
        var request = PrefetchRequest(acceptedSince: now)
        request.locks = counts.mapValues { MailboxLock(ids: $0) }
        request.mailboxes = Set(counts.keys)
        request.block = block
        _ = try store.prefetch(request)
        return block
    }

    /// Accepts one batch. One connection meets no deadlock, and nothing is tried again.
    private static func accept(
        _ count: Int, _ store: PostgresStore, _ generator: inout NotificationIDGenerator
    ) throws -> [(id: NotificationID, device: DeviceID)] {
        let chosen = (0..<count).compactMap { _ in DeviceID(UInt64.random(in: 1...UInt64(devices))) }
        var block = try lock(Dictionary(chosen.map { ($0, 1) }, uniquingKeysWith: +), store, &generator)
        let payload = [UInt8](repeating: UInt8(ascii: " "), count: 300)
        let made = chosen.compactMap { device in block.next().map { (id: $0, device: device) } }
        let at = now
        try store.apply(made.map { .insertNotification(StoreRate.record($0.id, $0.device, at, payload)) })
        return made
    }

    private static func acknowledge(
        _ accepted: [(id: NotificationID, device: DeviceID)], _ store: PostgresStore,
        _ generator: inout NotificationIDGenerator
    ) throws {
        for start in stride(from: 0, to: accepted.count, by: batch) {
            let slice = accepted[start..<min(start + batch, accepted.count)]
            _ = try lock(Dictionary(slice.map { ($0.device, 0) }, uniquingKeysWith: +), store, &generator)
            let at = now
            try store.apply(
                slice.flatMap { one in
                    [
                        .removeWaiting(one.id, of: one.device),
                        .appendLine(TimelineEntry(at: at, state: .acked, source: .server), to: one.id),
                    ] as [RowChange]
                })
        }
    }
}
