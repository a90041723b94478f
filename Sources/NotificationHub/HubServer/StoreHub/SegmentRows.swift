import Foundation
import GRDB
import HubProtocol
import PushCore

/// The statements for batches and segments of sends.
enum SegmentRows {
    /// Stores parts with the hub's next moment.
    static func insert(_ parts: [SendPartDraft], of send: Int64, _ database: Database) throws {
        guard !parts.isEmpty else { return }
        let moment = try Int64.fetchOne(
            database,
            sql: """
                UPDATE hub SET moment = moment + 1 WHERE number = (SELECT hub FROM send WHERE number = ?)
                RETURNING moment
                """, arguments: [send])
        for part in parts {
            try database.execute(
                sql: "INSERT INTO send_part(send, moment, locale, variant, audience, count) VALUES (?, ?, ?, ?, ?, ?)",
                arguments: [
                    send, moment, part.locale, part.variant, Data(part.audience.portable), part.audience.count,
                ])
        }
    }

    /// Closes the parts of a resumed send, and makes the send runnable at once.
    static func closeParts(ofSend send: Int64, _ database: Database) throws {
        try database.execute(
            sql: "UPDATE send_part SET closure = ? WHERE send = ? AND closure = ? AND withdrawn_at IS NULL",
            arguments: [PartClosure.closed.rawValue, send, PartClosure.open.rawValue])
        if database.changesCount > 0 { try scheduleClosedSegmentsNow(ofSend: send, database) }
    }

    /// Makes a send with closed parts runnable at once, whatever else it waits for.
    static func scheduleClosedSegmentsNow(ofSend send: Int64, _ database: Database) throws {
        guard try hasClosedParts(send, database) else { return }
        try database.execute(
            sql: "UPDATE send SET next_at = NULL WHERE number = ? AND ended_at IS NULL", arguments: [send])
    }

    /// Whether members of a send's parts have no copy and no other part since a pause.
    static func hasClosedParts(_ send: Int64, _ database: Database) throws -> Bool {
        try Int.fetchOne(
            database,
            sql: "SELECT 1 FROM send_part WHERE send = ? AND closure = ? AND withdrawn_at IS NULL LIMIT 1",
            arguments: [send, PartClosure.closed.rawValue]) != nil
    }

    static func apply(_ change: WaveChange, of send: Int64, _ database: Database) throws {
        for (instant, part) in change.waves {
            // A wave that was not opened accepts more members; opened ones are over or before the present.
            let known = try Data.fetchOne(
                database, sql: "SELECT audience FROM send_wave WHERE send = ? AND due_at = ?",
                arguments: [send, instant.rawValue])
            let audience = try known.map { try Bitmap(stored: $0, of: "wave").union(part) } ?? part
            try database.execute(
                sql: """
                    INSERT INTO send_wave(send, due_at, audience) VALUES (?, ?, ?)
                    ON CONFLICT (send, due_at) DO UPDATE SET audience = excluded.audience
                    """, arguments: [send, instant.rawValue, Data(audience.portable)])
        }
        for (why, part) in change.leftOut {
            try add(part.count, to: "left \(why.rawValue)", of: send, database)
            let known = try Data.fetchOne(
                database, sql: "SELECT audience FROM send_left_out WHERE send = ? AND why = ?",
                arguments: [send, why.rawValue])
            let audience = try known.map { try Bitmap(stored: $0, of: "those left out").union(part) } ?? part
            try database.execute(
                sql: "INSERT OR REPLACE INTO send_left_out(send, why, audience) VALUES (?, ?, ?)",
                arguments: [send, why.rawValue, Data(audience.portable)])
        }
    }

    static func record(
        _ evidence: EnvironmentEvidence, fault: String?, of send: Int64, database: Database
    ) throws {
        if evidence.right > 0 { try add(evidence.right, to: "environment right", of: send, database) }
        if evidence.bad > 0 { try add(evidence.bad, to: "environment bad", of: send, database) }
        guard let fault else { return }
        try database.execute(
            sql: "UPDATE send SET reason = ? WHERE number = ? AND reason IS NULL", arguments: [fault, send])
    }

    static func add(_ count: Int, to name: String, of send: Int64, _ database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO send_count(send, name, count) VALUES (?, ?, ?)
                ON CONFLICT DO UPDATE SET count = count + excluded.count
                """, arguments: [send, name, count])
    }

    /// Ends a wave after its last slice: the send waits for the next one, or ends.
    static func end(_ wave: SendBatch, nextAt: Timestamp?, at now: Timestamp, _ database: Database) throws {
        try database.execute(
            sql: "UPDATE send_wave SET ended_at = ? WHERE send = ? AND due_at = ?",
            arguments: [now.rawValue, wave.send, wave.dueAt.rawValue])
        if let next = try nextTurn(of: wave.send, database) {
            try database.execute(
                sql: "UPDATE send SET cursor = 0, next_at = ? WHERE number = ?",
                arguments: [max(next, nextAt?.rawValue ?? next), wave.send])
        } else {
            try complete(wave.send, at: now, database)
        }
    }

    /// The time of the next wave or retry of a send.
    static func nextTurn(of send: Int64, _ database: Database) throws -> Int64? {
        let wave = try Int64.fetchOne(
            database, sql: "SELECT MIN(due_at) FROM send_wave WHERE send = ? AND ended_at IS NULL", arguments: [send])
        let retry = try RecipientRows.nextRetry(of: send, database)
        return [wave, retry].compactMap { $0 }.min()
    }

    /// Ends a send of which nothing is left. A paused send ends when it is resumed, and a resumed one when the members
    /// without a copy have been submitted.
    static func complete(_ send: Int64, at now: Timestamp, _ database: Database) throws {
        guard try !hasClosedParts(send, database) else { return try scheduleClosedSegmentsNow(ofSend: send, database) }
        try database.execute(
            sql: "UPDATE send SET state = ?, ended_at = ? WHERE number = ? AND ended_at IS NULL AND state <> ?",
            arguments: [SendState.completed.rawValue, now.rawValue, send, SendState.paused.rawValue])
    }

    /// The members of a send to which nothing was or will be submitted: refused, left out, or ended before a retry.
    static func missed(_ send: Int64, _ database: Database) throws -> Bitmap {
        let rows = try Int64.fetchCursor(
            database.cachedStatement(
                sql: """
                    SELECT installation FROM send_recipient AS missed
                    WHERE send = ? AND installation > 0 AND outcome IS NOT 'Success' AND ending <> 'pending'
                        AND NOT EXISTS (
                            SELECT 1 FROM send_recipient AS other
                            WHERE other.send = missed.send AND other.installation = missed.installation
                                AND (other.outcome IS 'Success' OR other.ending = 'pending'))
                    """), arguments: [send])
        var found = Bitmap()
        while let number = try rows.next() {
            if let number = UInt32(exactly: number) { found.insert(number) }
        }
        return found
    }

    /// All members of a wave, otherwise of its send; `nil` where neither can be read.
    static func whole(_ wave: Data, of send: Int64, _ database: Database) throws -> Bitmap? {
        if let audience = Bitmap(portable: Array(wave)) { return audience }
        let stored = try Data.fetchOne(database, sql: "SELECT audience FROM send WHERE number = ?", arguments: [send])
        return stored.flatMap { Bitmap(portable: Array($0)) }
    }
}
