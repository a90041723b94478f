import HubProtocol
import PushCore
import PushServer

extension HubDatabase {
    /// Adds the row, unless a row with the key exists.
    package func addSend(
        id: String, hub: Int64, _ request: SendRequest, state: SendState, at now: Timestamp
    ) async throws -> SendRecord? {
        try await database.write { sql in
            try SendRows.add(id, hub: hub, request: request, state: state, at: now, isTest: false, sql)?.record
        }
    }

    /// Adds the row with its audience. The send is open, and not run before `resumesAt`.
    package func addTest(
        id: String, hub: Int64, _ request: SendRequest, audience: Bitmap, resumesAt: Timestamp, at now: Timestamp
    ) async throws -> (record: SendRecord, isNew: Bool)? {
        let blob = audience.portable
        return try await database.write { sql in
            let added = try SendRows.add(
                id, hub: hub, request: request, state: .processing, at: now, isTest: true, sql)
            guard let added, added.isNew else { return added }
            let targeted: Int
            if case .channels(let channels) = request.target {
                targeted = channels.count
            } else {
                targeted = audience.count
            }
            let isOver = targeted == 0
            try sql.run(
                """
                UPDATE send SET state = ?, started_at = ?, ended_at = ?, targeted = ?, audience = ?, next_at = ?
                WHERE number = ?
                """, isOver ? SendState.noTargetFound : .processing, now, isOver ? now : nil, targeted, blob, resumesAt,
                added.record.number)
            return added
        }
    }

    /// Finds the send by the caller's key.
    package func send(ofKey key: String, hub: Int64) async throws -> SendRecord? {
        try await database.read { sql in
            try sql.row("SELECT * FROM send WHERE hub = ? AND idempotency_key = ?", hub, key)
                .flatMap { try SendRecord($0) }
        }
    }

    /// Finds the send by its id.
    package func send(_ id: String, hub: Int64) async throws -> SendRecord? {
        try await database.read { sql in
            try sql.row("SELECT * FROM send WHERE hub = ? AND id = ?", hub, id).flatMap { try SendRecord($0) }
        }
    }

    /// Reads a page, newest first.
    package func sends(
        hub: Int64, before number: Int64, states: [SendState]?, campaigns: Bool, limit: Int
    ) async throws -> [SendRecord] {
        let wanted =
            (states.map { "AND state IN (\(Self.list($0)))" } ?? "") + (campaigns ? " AND campaign IS NOT NULL" : "")
        return try await database.read { sql in
            try sql.rows(
                "SELECT * FROM send WHERE hub = ? AND number < ? \(wanted) ORDER BY number DESC LIMIT ?", hub, number,
                limit
            ).compactMap { try SendRecord($0) }
        }
    }

    private static func list(_ states: [SendState]) -> String {
        states.map { "'\($0.rawValue)'" }.joined(separator: ",")
    }

    /// Reads the index of open sends.
    package func runnableSends(at now: Timestamp) async throws -> [RunnableSend] {
        try await database.read { sql in
            try sql.rows(
                "SELECT number, hub FROM send WHERE \(Self.isRunnable) ORDER BY number LIMIT 10000", now
            ).map { RunnableSend(number: try $0["number"], hub: try $0["hub"]) }
        }
    }

    /// Reads the row.
    package func runnableSend(_ number: Int64, at now: Timestamp) async throws -> SendRecord? {
        try await database.read { sql in
            try sql.row("SELECT * FROM send WHERE number = ?2 AND \(Self.isRunnable)", now, number)
                .flatMap { try SendRecord($0) }
        }
    }

    private static let isRunnable = """
        ended_at IS NULL AND (state IN ('Enqueued', 'Processing') OR state = 'Scheduled' AND due_at <= ?1)
            AND (next_at IS NULL OR next_at <= ?1)
        """

    /// Reads one row for each number.
    package func sends(_ numbers: [Int64]) async throws -> [SendRecord] {
        guard !numbers.isEmpty else { return [] }
        return try await database.read { sql in
            try sql.execute("SELECT * FROM send WHERE number = ?", each: numbers.map { [$0.parameter] })
                .compactMap { try $0.rows.first.flatMap { try SendRecord($0) } }
        }
    }

    /// Reads the index of open sends.
    package func nextDue(after now: Timestamp) async throws -> Timestamp? {
        try await database.read { sql in
            try sql.row(
                """
                SELECT MIN(at) AS at FROM (
                    SELECT CASE state WHEN 'Scheduled' THEN due_at ELSE next_at END AS at FROM send
                    WHERE ended_at IS NULL AND state IN ('Scheduled', 'Processing')) AS due
                WHERE at > ?
                """, now)?["at"]
        }
    }

    /// Changes the row if its state allows it.
    package func setState(
        _ state: SendState, of send: Int64, from states: [SendState], at now: Timestamp
    ) async throws -> SendRecord? {
        try await change(send: send) { sql in
            let changed = try sql.run(
                """
                UPDATE send SET state = ?, ended_at = ?
                WHERE number = ? AND ended_at IS NULL AND state IN (\(Self.list(states)))
                """, state, state.isFinal ? now : nil, send)
            guard changed == 1 else { return nil }
            if state.isFinal { try RecipientRows.endRetries(of: send, word: state.rawValue, sql) }
            if state == .processing { try SendPartRows.closeParts(ofSend: send, sql) }
            return try sql.row("SELECT * FROM send WHERE number = ?", send).flatMap { try SendRecord($0) }
        }
    }

    /// Reads the stored audience.
    package func audience(ofSend send: Int64) async throws -> Bitmap {
        try await database.read { sql in
            let blob: [UInt8]? = try sql.row("SELECT audience FROM send WHERE number = ?", send)?["audience"]
            return try blob.map { try Bitmap(stored: $0, of: "audience") } ?? Bitmap()
        }
    }

    /// Adds to the counts, and moves the cursor.
    package func advance(
        _ send: Int64, hub: Int64, _ progress: SendProgress, committed: @escaping Committed
    ) async throws {
        try await change(hub: hub, committed) { sql, changes in
            try Self.move(send, to: progress, sql)
            let gone = try RecipientRows.gone(progress, sql)
            try RecipientRows.write(progress.recipients.map { $0.nameless(gone) }, of: send, sql)
            try RecipientRows.write(progress.unreachable.map { $0.nameless(gone) }, of: send, keeps: true, sql)
            // A send that was ended while a slice was under way has no retries.
            let ended: String? = try sql.row(
                "SELECT state FROM send WHERE number = ? AND ended_at IS NOT NULL", send)?["state"]
            if let ended { try RecipientRows.endRetries(of: send, word: ended, sql) }
            for (name, count) in progress.variants {
                try SendPartRows.add(count, to: "variant \(name)", of: send, sql)
            }
            try SendPartRows.record(progress.evidence, fault: progress.fault, of: send, sql)
            if progress.isEnd, let wave = progress.wave {
                try SendPartRows.end(wave, nextAt: progress.nextAt, at: progress.at, sql)
            } else if progress.isEnd, let next = try RecipientRows.nextRetry(of: send, sql) {
                try sql.run("UPDATE send SET next_at = ? WHERE number = ?", max(next, progress.nextAt ?? next), send)
            } else if progress.isEnd {
                try SendPartRows.complete(send, at: progress.at, sql)
            }
            // The send may have been paused and resumed while the slice was under way.
            try SendPartRows.scheduleClosedPartsNow(ofSend: send, sql)
            try Self.recordOutcomes(progress, of: send, gone: gone, sql)
            for dead in progress.deadChannels {
                try RecipientRows.markChannelDead(dead, hub: hub, sql, changes: &changes)
            }
        }
    }

    private static func move(_ send: Int64, to progress: SendProgress, _ sql: any SQLConnection) throws {
        let moved = try sql.run(
            "UPDATE send SET cursor = ?, next_at = ?, step = step + 1 WHERE number = ? AND step = ?", progress.cursor,
            progress.nextAt, send, progress.step)
        guard moved == 1 else { throw ClaimedElsewhereError() }
    }

    private static func recordOutcomes(
        _ progress: SendProgress, of send: Int64, gone: Set<UInt32>, _ sql: any SQLConnection
    ) throws {
        _ = try sql.execute(
            """
            INSERT INTO send_outcome(send, platform, outcome, count) VALUES (?, ?, ?, ?)
            ON CONFLICT (send, platform, outcome) DO UPDATE SET count = send_outcome.count + excluded.count
            """,
            each: progress.counts.map { count in
                [
                    send.parameter, count.platform.rawValue.parameter, count.outcome.rawValue.parameter,
                    count.count.parameter,
                ]
            })
        _ = try sql.execute(
            "INSERT INTO send_fault(send, installation, name, outcome, at) VALUES (?, ?, ?, ?, ?)",
            each: progress.faults.filter { !gone.contains($0.installation) }.map { fault in
                [
                    send.parameter, fault.installation.parameter, fault.name.parameter,
                    fault.outcome.rawValue.parameter, fault.at.parameter,
                ]
            })
    }

    /// Reads the counts.
    package func outcomes(of send: Int64) async throws -> [OutcomeCount] {
        try await database.read { sql in
            try sql.rows("SELECT platform, outcome, count FROM send_outcome WHERE send = ?", send).compactMap { row in
                guard let platform = HubPlatform(rawValue: try row["platform"]),
                    let outcome = SendOutcome(rawValue: try row["outcome"])
                else { return nil }
                return OutcomeCount(platform: platform, outcome: outcome, count: try row["count"])
            }
        }
    }

    /// Deletes sends by the index of ends; their counts and faults are deleted with them.
    package func deleteSends(endedBefore instant: Timestamp, limit: Int) async throws -> Bool {
        try await database.write { sql in
            try sql.run(
                """
                DELETE FROM send WHERE number IN (SELECT number FROM send WHERE ended_at < ? ORDER BY ended_at LIMIT ?)
                """, instant, limit) == limit
        }
    }

    /// Reads a page by the index of faults.
    package func faults(of send: Int64, after number: Int64, limit: Int) async throws -> [SendFault] {
        try await database.read { sql in
            try sql.rows(
                """
                SELECT number, installation, name, outcome, at FROM send_fault WHERE send = ? AND number > ?
                ORDER BY number LIMIT ?
                """, send, number, limit
            ).compactMap { row in
                guard let outcome = SendOutcome(rawValue: try row["outcome"]) else { return nil }
                return SendFault(
                    number: try row["number"],
                    installation: UInt32(truncatingIfNeeded: try row["installation"] as Int64),
                    name: try row["name"], outcome: outcome, at: try row["at"])
            }
        }
    }
}
