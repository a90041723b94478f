import Foundation
import PushCore
import PushServer
import SQLiteStore

/// The store's own rate for the rows of an acceptance: batches of 512, each synced, to 2,000 devices, on one thread. Then
/// the rate at which they are pruned, with two lines of a timeline each, in slices of 2,000.
@main
enum StoreRate {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let rows = Int(arguments[2]), rows > 0 else {
            print("usage: StoreRate FOLDER ROWS")
            exit(2)
        }
        let folder = URL(fileURLWithPath: arguments[1])
        let probe = try fdatasyncMicroseconds(in: folder)
        let path = folder.appendingPathComponent("rate.sqlite").path
        let store = try SQLiteStore(path: path)
        var ids: [NotificationID] = []
        let seconds = try measure(store, rows: rows, ids: &ids)
        let pruning = try measurePruning(store, ids)
        try store.close()
        let result: [String: Any] = [
            "rows": rows, "rowsPerSecond": Double(rows) / seconds, "prunedPerSecond": Double(rows) / pruning,
            "fdatasyncMicroseconds": probe,
        ]
        let line = try JSONSerialization.data(withJSONObject: result, options: [.sortedKeys])
        print(String(decoding: line, as: UTF8.self))
    }

    private static func measure(_ store: SQLiteStore, rows: Int, ids made: inout [NotificationID]) throws -> Double {
        var ids = NotificationIDGenerator(node: 1, highWater: 0)
        ids.raiseCeiling(to: .max)
        made.reserveCapacity(rows)
        let payload = [UInt8](repeating: UInt8(ascii: " "), count: 300)
        let begin = ContinuousClock.now
        var written = 0
        while written < rows {
            let batch = min(512, rows - written)
            var changes: [RowChange] = []
            for row in written..<(written + batch) {
                let now = Timestamp(seconds: 1_780_000_000).adding(milliseconds: Int64(row / 40))
                guard let id = ids.next(now: now), let device = DeviceID(UInt64(row % 2000 * 7_919 + 1)) else {
                    continue
                }
                made.append(id)
                changes.append(.insertNotification(record(id, device, now, payload)))
            }
            try store.apply(changes)
            written += batch
        }
        return seconds(since: begin)
    }

    private static func measurePruning(_ store: SQLiteStore, _ ids: [NotificationID]) throws -> Double {
        let accepted = Timestamp(seconds: 1_780_000_000)
        for start in stride(from: 0, to: ids.count, by: 10_000) {
            try store.apply(
                ids[start..<min(start + 10_000, ids.count)].flatMap { id in
                    [NotificationState.sent, .acked].map {
                        .appendLine(TimelineEntry(at: accepted, state: $0, source: .server), to: id)
                    }
                })
        }
        let later = accepted.adding(milliseconds: 40 * 24 * 3_600_000)
        let begin = ContinuousClock.now
        while try store.prune(timelinesBefore: later, payloadsBefore: accepted, now: later, limit: 2000) {}
        return seconds(since: begin)
    }

    private static func seconds(since begin: ContinuousClock.Instant) -> Double {
        let elapsed = ContinuousClock.now - begin
        return Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
    }

    private static func record(
        _ id: NotificationID, _ device: DeviceID, _ now: Timestamp, _ payload: [UInt8]
    ) -> NotificationRecord {
        NotificationRecord(
            id: id,
            subject: TokenSubject(
                cell: 0, device: device, app: AppID(rawValue: 1), environment: .sandbox, generation: 0),
            apnsID: nil, pushType: .alert, priority: .immediate, collapseID: nil, acceptedAt: now,
            expiresAt: now.adding(milliseconds: 2_592_000_000), waits: true, lane: .apns, payload: .own(payload))
    }

    /// The median of 200 synced writes of 4 KiB.
    private static func fdatasyncMicroseconds(in folder: URL) throws -> Double {
        let path = folder.appendingPathComponent("probe").path
        let file = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0o600)
        guard file >= 0 else { throw CocoaError(.fileWriteUnknown) }
        defer {
            close(file)
            unlink(path)
        }
        let block = [UInt8](repeating: 1, count: 4096)
        var times: [Double] = []
        for _ in 0..<200 {
            let begin = ContinuousClock.now
            _ = write(file, block, block.count)
            fdatasync(file)
            times.append(Double((ContinuousClock.now - begin).components.attoseconds) / 1e12)
        }
        return times.sorted()[times.count / 2]
    }
}
