import Crypto
import Foundation
import GRDB
import HubProtocol
import PushCore

extension HubDatabase {
    /// Adds the row, unless a row with the key exists.
    package func addSend(
        id: String, hub: Int64, _ request: SendRequest, state: SendState, at now: Timestamp
    ) async throws -> SendRecord? {
        try await pool.write {
            try SendRows.add(id, hub: hub, request: request, state: state, at: now, isTest: false, database: $0)?.record
        }
    }

    /// Adds the row with its audience. The send is open, and not run before `resumesAt`.
    package func addTest(
        id: String, hub: Int64, _ request: SendRequest, audience: Bitmap, resumesAt: Timestamp, at now: Timestamp
    ) async throws -> (record: SendRecord, isNew: Bool)? {
        let blob = Data(audience.portable)
        return try await pool.write { database in
            guard
                let added = try SendRows.add(
                    id, hub: hub, request: request, state: .processing, at: now, isTest: true, database: database)
            else {
                return nil
            }
            guard added.isNew else { return added }
            let targeted: Int
            if case .channels(let channels) = request.target {
                targeted = channels.count
            } else {
                targeted = audience.count
            }
            let isOver = targeted == 0
            try database.execute(
                sql: """
                    UPDATE send SET state = ?, started_at = ?, ended_at = ?, targeted = ?, audience = ?, next_at = ?
                    WHERE number = ?
                    """,
                arguments: [
                    (isOver ? SendState.noTargetFound : .processing).rawValue, now.rawValue,
                    isOver ? now.rawValue : nil, targeted, blob, resumesAt.rawValue, added.record.number,
                ])
            return added
        }
    }

    /// Finds the send by the caller's key.
    package func send(ofKey key: String, hub: Int64) async throws -> SendRecord? {
        try await pool.read { database in
            try Row.fetchOne(
                database, sql: "SELECT * FROM send WHERE hub = ? AND idempotency_key = ?", arguments: [hub, key]
            ).flatMap(SendRecord.init)
        }
    }

    /// Finds the send by its id.
    package func send(_ id: String, hub: Int64) async throws -> SendRecord? {
        try await pool.read { database in
            try Row.fetchOne(database, sql: "SELECT * FROM send WHERE hub = ? AND id = ?", arguments: [hub, id])
                .flatMap(SendRecord.init)
        }
    }

    /// Reads a page, newest first.
    package func sends(
        hub: Int64, before number: Int64, states: [SendState]?, campaigns: Bool, limit: Int
    ) async throws -> [SendRecord] {
        let wanted =
            (states.map { "AND state IN (\($0.map { "'\($0.rawValue)'" }.joined(separator: ",")))" } ?? "")
            + (campaigns ? " AND campaign IS NOT NULL" : "")
        return try await pool.read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT * FROM send WHERE hub = ? AND number < ? \(wanted) ORDER BY number DESC LIMIT ?",
                arguments: [hub, number, limit]
            ).compactMap(SendRecord.init)
        }
    }

    /// Reads the index of open sends.
    package func runnableSends(at now: Timestamp) async throws -> [RunnableSend] {
        try await pool.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT number, hub FROM send WHERE ended_at IS NULL
                        AND (state IN ('Enqueued', 'Processing') OR state = 'Scheduled' AND due_at <= :now)
                        AND (next_at IS NULL OR next_at <= :now)
                    ORDER BY number LIMIT 10000
                    """, arguments: ["now": now.rawValue]
            ).map { RunnableSend(number: $0["number"], hub: $0["hub"]) }
        }
    }

    /// Reads one row for each number.
    package func sends(_ numbers: [Int64]) async throws -> [SendRecord] {
        try await pool.read { database in
            let statement = try database.cachedStatement(sql: "SELECT * FROM send WHERE number = ?")
            return try numbers.compactMap { try Row.fetchOne(statement, arguments: [$0]).flatMap(SendRecord.init) }
        }
    }

    /// Reads the index of open sends.
    package func nextDue(after now: Timestamp) async throws -> Timestamp? {
        try await pool.read { database in
            try Int64.fetchOne(
                database,
                sql: """
                    SELECT MIN(at) FROM (
                        SELECT CASE state WHEN 'Scheduled' THEN due_at ELSE next_at END AS at FROM send
                        WHERE ended_at IS NULL AND state IN ('Scheduled', 'Processing'))
                    WHERE at > ?
                    """, arguments: [now.rawValue]
            ).map { Timestamp(rawValue: $0) }
        }
    }

    /// Changes the row if its state allows it.
    package func setState(
        _ state: SendState, of send: Int64, from states: [SendState], at now: Timestamp
    ) async throws -> SendRecord? {
        try await pool.write { database in
            let from = states.map { "'\($0.rawValue)'" }.joined(separator: ",")
            try database.execute(
                sql:
                    "UPDATE send SET state = ?, ended_at = ? WHERE number = ? AND ended_at IS NULL AND state IN (\(from))",
                arguments: [state.rawValue, state.isFinal ? now.rawValue : nil, send])
            guard database.changesCount == 1 else { return nil }
            if state.isFinal { try RecipientRows.endRetries(of: send, word: state.rawValue, database) }
            if state == .processing { try SegmentRows.closeParts(ofSend: send, database) }
            return try Row.fetchOne(database, sql: "SELECT * FROM send WHERE number = ?", arguments: [send])
                .flatMap(SendRecord.init)
        }
    }

    /// Reads the stored audience.
    package func audience(ofSend send: Int64) async throws -> Bitmap {
        try await pool.read { database in
            let blob = try Data.fetchOne(
                database, sql: "SELECT audience FROM send WHERE number = ?", arguments: [send])
            return try blob.map { try Bitmap(stored: $0, of: "audience") } ?? Bitmap()
        }
    }

    /// Adds to the counts, and moves the cursor.
    package func advance(
        _ send: Int64, hub: Int64, _ progress: SendProgress, committed: @escaping Committed
    ) async throws {
        try await change(committed) { database, changes in
            try database.execute(
                sql: "UPDATE send SET cursor = ?, next_at = ? WHERE number = ?",
                arguments: [Int64(progress.cursor), progress.nextAt?.rawValue, send])
            let gone = try RecipientRows.gone(progress, database)
            try RecipientRows.write(progress.recipients.map { $0.nameless(gone) }, of: send, database)
            try RecipientRows.write(progress.unreachable.map { $0.nameless(gone) }, of: send, keeps: true, database)
            // A send that was ended while a slice was under way has no retries.
            let ended = try String.fetchOne(
                database, sql: "SELECT state FROM send WHERE number = ? AND ended_at IS NOT NULL", arguments: [send])
            if let ended { try RecipientRows.endRetries(of: send, word: ended, database) }
            for (name, count) in progress.variants {
                try SegmentRows.add(count, to: "variant \(name)", of: send, database)
            }
            try SegmentRows.record(progress.evidence, fault: progress.fault, of: send, database: database)
            if progress.isEnd, let wave = progress.wave {
                try SegmentRows.end(wave, nextAt: progress.nextAt, at: progress.at, database)
            } else if progress.isEnd, let next = try RecipientRows.nextRetry(of: send, database) {
                try database.execute(
                    sql: "UPDATE send SET next_at = ? WHERE number = ?",
                    arguments: [max(next, progress.nextAt?.rawValue ?? next), send])
            } else if progress.isEnd {
                try SegmentRows.complete(send, at: progress.at, database)
            }
            // The send may have been paused and resumed while the slice was under way.
            try SegmentRows.scheduleClosedSegmentsNow(ofSend: send, database)
            for count in progress.counts {
                try database.execute(
                    sql: """
                        INSERT INTO send_outcome(send, platform, outcome, count) VALUES (?, ?, ?, ?)
                        ON CONFLICT DO UPDATE SET count = count + excluded.count
                        """,
                    arguments: [send, count.platform.rawValue, count.outcome.rawValue, count.count])
            }
            for fault in progress.faults where !gone.contains(fault.installation) {
                try database.execute(
                    sql: "INSERT INTO send_fault(send, installation, name, outcome, at) VALUES (?, ?, ?, ?, ?)",
                    arguments: [
                        send, Int64(fault.installation), fault.name, fault.outcome.rawValue, fault.at.rawValue,
                    ])
            }
            for dead in progress.deadChannels {
                try RecipientRows.markChannelDead(dead, hub: hub, database: database, changes: &changes)
            }
        }
    }

    /// Reads the counts.
    package func outcomes(of send: Int64) async throws -> [OutcomeCount] {
        try await pool.read { database in
            try Row.fetchAll(
                database, sql: "SELECT platform, outcome, count FROM send_outcome WHERE send = ?", arguments: [send]
            ).compactMap { row in
                guard let platform = HubPlatform(rawValue: row["platform"]),
                    let outcome = SendOutcome(rawValue: row["outcome"])
                else { return nil }
                return OutcomeCount(platform: platform, outcome: outcome, count: row["count"])
            }
        }
    }

    /// Deletes sends by the index of ends; their counts and faults are deleted with them.
    package func deleteSends(endedBefore instant: Timestamp, limit: Int) async throws -> Bool {
        try await pool.write { database in
            try database.execute(
                sql: """
                    DELETE FROM send WHERE number IN (SELECT number FROM send WHERE ended_at < ? ORDER BY ended_at LIMIT ?)
                    """, arguments: [instant.rawValue, limit])
            return database.changesCount == limit
        }
    }

    /// Reads a page by the index of faults.
    package func faults(of send: Int64, after number: Int64, limit: Int) async throws -> [SendFault] {
        try await pool.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT number, installation, name, outcome, at FROM send_fault WHERE send = ? AND number > ?
                    ORDER BY number LIMIT ?
                    """, arguments: [send, number, limit]
            ).compactMap { row in
                guard let outcome = SendOutcome(rawValue: row["outcome"]) else { return nil }
                return SendFault(
                    number: row["number"], installation: UInt32(truncatingIfNeeded: row["installation"] as Int64),
                    name: row["name"],
                    outcome: outcome, at: Timestamp(rawValue: row["at"]))
            }
        }
    }
}
