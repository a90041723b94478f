import Foundation
import PushCore
import PushServer
import SQLiteStore

/// The store's own rate for the rows of an acceptance: batches of 512, each synced, to 2,000 devices, on one thread. Then
/// the rate at which they are pruned, with two lines of a timeline each, in slices of 2,000.
///
/// With `--postgres FOLDER`, the folder of a PostgreSQL server's socket, also the rate of ``PostgresRate``.
@main
enum StoreRate {
    static func main() throws {
        let arguments = CommandLine.arguments
        let isComplete = arguments.count == 3 || arguments.count == 5 && arguments[3] == "--postgres"
        guard isComplete, let rows = Int(arguments[2]), rows > 0 else {
            print("usage: StoreRate FOLDER ROWS [--postgres FOLDER]")
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
        var result: [String: Any] = [
            "rows": rows, "rowsPerSecond": Double(rows) / seconds, "prunedPerSecond": Double(rows) / pruning,
            "fdatasyncMicroseconds": probe,
        ]
        if arguments.count == 5 {
            let used = processorSeconds(of: getpid())
            result.merge(try PostgresRate.measure(arguments[4], rows: rows)) { $1 }
            result["clientMicroseconds"] = (processorSeconds(of: getpid()) - used) * 1e6 / Double(rows)
        }
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

    /// An error: the ids below the ceiling do not suffice.
    struct NoIDs: Error {}

    /// The processor time that a process has used.
    static func processorSeconds(of process: Int32) -> Double {
        // A process that has ended has used no more.
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let fields = text.split(separator: ")").last?.split(separator: " "), fields.count > 12,
            let user = Double(fields[11]), let system = Double(fields[12])
        else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    static func seconds(since begin: ContinuousClock.Instant) -> Double {
        let elapsed = ContinuousClock.now - begin
        return Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
    }

    static func record(
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
