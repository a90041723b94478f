import PushCore
import PushServer

/// Deletes what is old: whole days, and slices of what is in no day's partition.
struct PostgresRetention {
    let connection: PostgresConnection

    private func firstID(at instant: Timestamp) -> Int64 {
        NotificationIDGenerator(node: 0, highWater: 0).floor(at: instant)
    }

    /// The id below which notifications are deleted: that of an instant, or of the beginning of its day where the day has a
    /// partition, which is dropped whole.
    private func bound(before instant: Timestamp) throws -> Int64 {
        let days = try PostgresDays(connection: connection).days()
        let kept = days.first { PostgresDays.start($0 + 1) > instant }.map(PostgresDays.firstID)
        let oldest = firstID(at: instant)
        return min(oldest, kept ?? oldest)
    }

    /// Drops the days that ended before an instant, if ``prune(timelinesBefore:payloadsBefore:now:limit:)`` has passed them.
    func dropDays(before instant: Timestamp) throws {
        let position = try position("pruned")
        for day in try PostgresDays(connection: connection).days() {
            guard PostgresDays.start(day + 1) <= instant, PostgresDays.firstID(day + 1) <= position else { return }
            do {
                try connection.transaction { connection in
                    // Readers and writers wait behind a lock that is waited for.
                    try connection.execute("SET LOCAL lock_timeout = '1s'")
                    try PostgresDays(connection: connection).drop(day)
                }
            } catch let error as PostgresError where error.code == "55P03" {
                // Somebody reads the day; the next sweep drops it.
                return
            }
        }
    }

    /// Prunes a slice, in the present transaction.
    func prune(timelinesBefore: Timestamp, payloadsBefore: Timestamp, now: Timestamp, limit: Int) throws -> Bool {
        let hasOld = try deleteOld(before: try bound(before: timelinesBefore), limit: limit)
        try connection.run("DELETE FROM unrecorded WHERE last < $1", firstID(at: timelinesBefore))
        let hasNew = try clearNew(before: payloadsBefore, now: now, limit: limit)
        let hasLingering = try clearLingering(before: payloadsBefore, now: now, limit: limit)
        let hasShared = try deleteShared(before: payloadsBefore, now: now, limit: limit)
        return hasOld || hasNew || hasLingering || hasShared
    }

    private func position(_ key: String) throws -> Int64 {
        try connection.run("SELECT value FROM meta WHERE key = $1", key).first.map { try $0[0] } ?? 0
    }

    private func setPosition(_ key: String, to position: Int64) throws {
        try connection.run(
            "INSERT INTO meta(key, value) VALUES($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value", key,
            position)
    }

    /// Deletes a slice of notifications, but for those in the partitions of days; the position only moves forward.
    private func deleteOld(before bound: Int64, limit: Int) throws -> Bool {
        let position = try position("pruned")
        guard position < bound else { return false }
        let beyond: Int64? = try connection.run(
            "SELECT id FROM message WHERE id >= $1 AND id < $2 ORDER BY id LIMIT 1 OFFSET $3", position, bound, limit
        ).first?[0]
        let end = beyond ?? bound
        try closeReports(from: position, to: end)
        try connection.run(
            """
            DELETE FROM pending USING message WHERE message.id >= $1 AND message.id < $2 AND message.stored
                AND pending.device = message.device AND pending.id = message.id
            """, position, end)
        for (table, key) in [
            ("report_counted", "id"), ("refusal", "id"), ("lingering", "id"), ("sync_member", "id"),
            ("sync_clearing", "id"), ("recall", "message"), ("payload_use", "message"),
        ] { try connection.run("DELETE FROM \(table) WHERE \(key) >= $1 AND \(key) < $2", position, end) }
        for (table, _) in PostgresDays.tables { try connection.run("DELETE FROM \(table)_rest WHERE id < $1", end) }
        try setPosition("pruned", to: end)
        return beyond != nil
    }

    /// Counts pending notifications with a final end when their timelines are deleted.
    private func closeReports(from first: Int64, to end: Int64) throws {
        let rows = try connection.run(
            """
            SELECT report_counted.report, report_counted.outcome, message.expires_at IS NULL, count(*)
            FROM report_counted LEFT JOIN message ON message.id = report_counted.id
            WHERE report_counted.id >= $1 AND report_counted.id < $2 GROUP BY 1, 2, 3
            """, first, end)
        var deltas: [Int64: ReportCounts] = [:]
        for row in rows {
            guard let outcome = DeliveryOutcome(encoded: try row[1]), outcome.end == .pending else { continue }
            let count: Int = try row[3]
            deltas[try row[0], default: ReportCounts()].count(outcome, by: -count)
            deltas[try row[0], default: ReportCounts()].count(outcome.closed(isAttempt: try row[2]), by: count)
        }
        try ReportSums.add(deltas, connection)
    }

    /// Clears the payloads of the next messages that have reached the age. The position only moves forward: payloads that are
    /// still needed are added to the lingering ones.
    private func clearNew(before: Timestamp, now: Timestamp, limit: Int) throws -> Bool {
        let position = try position("payloads_cleared")
        let ids: [Int64] = try connection.run(
            "SELECT id FROM message WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3", position, firstID(at: before),
            limit
        ).map { try $0[0] }
        guard let last = ids.last else { return false }
        let used = try usedPayloads(ids, since: before)
        try connection.run(
            .init(
                """
                INSERT INTO lingering(id, checked_at) SELECT unnest($1::bigint[]), $2
                ON CONFLICT (id) DO UPDATE SET checked_at = excluded.checked_at
                """, [.int8s(used.sorted()), PostgresParameter(now)]))
        try clear(ids.filter { !used.contains($0) })
        try setPosition("payloads_cleared", to: last)
        return ids.count == limit
    }

    private func clearLingering(before: Timestamp, now: Timestamp, limit: Int) throws -> Bool {
        let ids: [Int64] = try connection.run(
            "SELECT id FROM lingering WHERE checked_at <= $1 ORDER BY checked_at LIMIT $2", before, limit
        ).map { try $0[0] }
        guard !ids.isEmpty else { return false }
        let used = try usedPayloads(ids, since: before)
        try connection.run(
            .init(
                "UPDATE lingering SET checked_at = $2 WHERE id = ANY($1::bigint[])",
                [.int8s(used.sorted()), PostgresParameter(now)]))
        let unused = ids.filter { !used.contains($0) }
        try clear(unused)
        try connection.run(.init("DELETE FROM lingering WHERE id = ANY($1::bigint[])", [.int8s(unused)]))
        return ids.count == limit
    }

    /// The notifications that are queued, or whose timeline has a line since an instant.
    private func usedPayloads(_ ids: [Int64], since: Timestamp) throws -> Set<Int64> {
        let rows = try connection.run(
            .init(
                """
                SELECT asked.id FROM unnest($1::bigint[]) AS asked(id) WHERE EXISTS(
                        SELECT 1 FROM message JOIN pending ON pending.device = message.device AND pending.id = message.id
                        WHERE message.id = asked.id)
                    OR EXISTS(SELECT 1 FROM timeline WHERE timeline.id = asked.id AND timeline.at > $2)
                """, [.int8s(ids), PostgresParameter(since)]))
        return Set(try rows.map { try $0[0] as Int64 })
    }

    private func clear(_ ids: [Int64]) throws {
        try connection.run(
            .init(
                """
                UPDATE message SET payload = NULL FROM unnest($1::bigint[]) AS wanted(id)
                WHERE message.id = wanted.id AND payload IS NOT NULL
                """, [.int8s(ids)]))
        // The copies of a broadcast are counted by these rows, which are deleted with them.
        try connection.run(
            .init(
                """
                DELETE FROM payload_use WHERE message = ANY($1::bigint[])
                    AND NOT EXISTS(SELECT 1 FROM broadcast WHERE id = payload_use.payload)
                """, [.int8s(ids)]))
    }

    /// Deletes unreferenced shared payloads of a certain age; the others are checked again later.
    private func deleteShared(before: Timestamp, now: Timestamp, limit: Int) throws -> Bool {
        let ids: [Int64] = try connection.run(
            "SELECT id FROM payload WHERE checked_at <= $1 ORDER BY checked_at LIMIT $2", before, limit
        ).map { try $0[0] }
        guard !ids.isEmpty else { return false }
        try connection.run(
            .init(
                """
                DELETE FROM payload WHERE id = ANY($1::bigint[])
                    AND NOT EXISTS(SELECT 1 FROM payload_use WHERE payload = payload.id)
                    AND NOT EXISTS(SELECT 1 FROM broadcast WHERE broadcast.id = payload.id AND ended_at IS NULL)
                """, [.int8s(ids)]))
        try connection.run(
            .init(
                "UPDATE payload SET checked_at = $2 WHERE id = ANY($1::bigint[])",
                [.int8s(ids), PostgresParameter(now)]))
        return ids.count == limit
    }
}
