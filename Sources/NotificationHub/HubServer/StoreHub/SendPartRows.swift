import HubProtocol
import PushCore
import PushServer

/// The statements for waves and parts of sends.
enum SendPartRows {
    /// Stores parts with the hub's next moment.
    static func insert(_ parts: [SendPartDraft], of send: Int64, _ sql: any SQLConnection) throws {
        guard !parts.isEmpty else { return }
        let moment: Int64? = try sql.row(
            """
            UPDATE hub SET moment = moment + 1 WHERE number = (SELECT hub FROM send WHERE number = ?)
            RETURNING moment
            """, send)?["moment"]
        _ = try sql.execute(
            "INSERT INTO send_part(send, moment, locale, variant, audience, count) VALUES (?, ?, ?, ?, ?, ?)",
            each: parts.map { part in
                [
                    send.parameter, moment.parameter, part.locale.parameter, part.variant.parameter,
                    part.audience.portable.parameter, part.audience.count.parameter,
                ]
            })
    }

    /// Closes the parts of a resumed send, and makes the send runnable at once.
    static func closeParts(ofSend send: Int64, _ sql: any SQLConnection) throws {
        let closed = try sql.run(
            "UPDATE send_part SET closure = ? WHERE send = ? AND closure = ? AND withdrawn_at IS NULL",
            PartClosure.closed.rawValue, send, PartClosure.open.rawValue)
        if closed > 0 { try scheduleClosedPartsNow(ofSend: send, sql) }
    }

    /// Makes a send with closed parts runnable at once, whatever else it waits for.
    static func scheduleClosedPartsNow(ofSend send: Int64, _ sql: any SQLConnection) throws {
        guard try hasClosedParts(send, sql) else { return }
        try sql.run("UPDATE send SET next_at = NULL WHERE number = ? AND ended_at IS NULL", send)
    }

    /// Whether members of a send's parts have no copy and no other part since a pause.
    static func hasClosedParts(_ send: Int64, _ sql: any SQLConnection) throws -> Bool {
        try sql.row(
            "SELECT 1 AS one FROM send_part WHERE send = ? AND closure = ? AND withdrawn_at IS NULL LIMIT 1", send,
            PartClosure.closed.rawValue) != nil
    }

    static func apply(_ change: WaveChange, of send: Int64, _ sql: any SQLConnection) throws {
        for (instant, part) in change.waves {
            // A wave that was not opened accepts more members; opened ones are over or before the present.
            let known: [UInt8]? = try sql.row(
                "SELECT audience FROM send_wave WHERE send = ? AND due_at = ?", send, instant)?["audience"]
            let audience = try known.map { try Bitmap(stored: $0, of: "wave").union(part) } ?? part
            try sql.run(
                """
                INSERT INTO send_wave(send, due_at, audience) VALUES (?, ?, ?)
                ON CONFLICT (send, due_at) DO UPDATE SET audience = excluded.audience
                """, send, instant, audience.portable)
        }
        for (why, part) in change.excluded {
            try add(part.count, to: "left \(why.rawValue)", of: send, sql)
            let known: [UInt8]? = try sql.row(
                "SELECT audience FROM send_left_out WHERE send = ? AND why = ?", send, why.rawValue)?["audience"]
            let audience = try known.map { try Bitmap(stored: $0, of: "those left out").union(part) } ?? part
            try sql.run(
                """
                INSERT INTO send_left_out(send, why, audience) VALUES (?, ?, ?)
                ON CONFLICT (send, why) DO UPDATE SET audience = excluded.audience
                """, send, why.rawValue, audience.portable)
        }
    }

    static func record(
        _ evidence: EnvironmentEvidence, fault: String?, of send: Int64, _ sql: any SQLConnection
    ) throws {
        if evidence.right > 0 { try add(evidence.right, to: "environment right", of: send, sql) }
        if evidence.bad > 0 { try add(evidence.bad, to: "environment bad", of: send, sql) }
        guard let fault else { return }
        try sql.run("UPDATE send SET reason = ? WHERE number = ? AND reason IS NULL", fault, send)
    }

    static func add(_ count: Int, to name: String, of send: Int64, _ sql: any SQLConnection) throws {
        try sql.run(
            """
            INSERT INTO send_count(send, name, count) VALUES (?, ?, ?)
            ON CONFLICT (send, name) DO UPDATE SET count = send_count.count + excluded.count
            """, send, name, count)
    }

    /// Ends a wave after its last slice: the send waits for the next one, or ends.
    static func end(_ wave: SendWave, nextAt: Timestamp?, at now: Timestamp, _ sql: any SQLConnection) throws {
        try sql.run(
            "UPDATE send_wave SET ended_at = ? WHERE send = ? AND due_at = ?", now, wave.send, wave.dueAt)
        if let next = try nextTurn(of: wave.send, sql) {
            try sql.run(
                "UPDATE send SET cursor = 0, next_at = ? WHERE number = ?", max(next, nextAt ?? next), wave.send)
        } else {
            try complete(wave.send, at: now, sql)
        }
    }

    /// The time of the next wave or retry of a send.
    static func nextTurn(of send: Int64, _ sql: any SQLConnection) throws -> Timestamp? {
        let wave: Timestamp? = try sql.row(
            "SELECT MIN(due_at) AS next FROM send_wave WHERE send = ? AND ended_at IS NULL", send)?["next"]
        return [wave, try RecipientRows.nextRetry(of: send, sql)].compactMap(\.self).min()
    }

    /// Ends a send of which nothing is left. A paused send ends when it is resumed, and a resumed one when the members
    /// without a copy have been submitted.
    static func complete(_ send: Int64, at now: Timestamp, _ sql: any SQLConnection) throws {
        guard try !hasClosedParts(send, sql) else { return try scheduleClosedPartsNow(ofSend: send, sql) }
        try sql.run(
            "UPDATE send SET state = ?, ended_at = ? WHERE number = ? AND ended_at IS NULL AND state <> ?",
            SendState.completed, now, send, SendState.paused)
    }

    /// The members of a send to which nothing was or will be submitted: refused, left out, or ended before a retry.
    static func missed(_ send: Int64, _ sql: any SQLConnection) throws -> Bitmap {
        try RecipientRows.numbers(
            """
            SELECT DISTINCT installation FROM send_recipient AS missed
            WHERE send = ?1 AND installation > ?2 AND outcome IS DISTINCT FROM 'Success' AND ending <> 'pending'
                AND NOT EXISTS (
                    SELECT 1 FROM send_recipient AS other
                    WHERE other.send = ?1 AND other.installation = missed.installation
                        AND (other.outcome = 'Success' OR other.ending = 'pending'))
            ORDER BY installation LIMIT ?3
            """, ofSend: send, sql)
    }

    /// All members of a wave, otherwise of its send; `nil` where neither can be read.
    static func whole(_ wave: [UInt8], of send: Int64, _ sql: any SQLConnection) throws -> Bitmap? {
        if let audience = Bitmap(portable: wave) { return audience }
        let stored: [UInt8]? = try sql.row("SELECT audience FROM send WHERE number = ?", send)?["audience"]
        return stored.flatMap { Bitmap(portable: $0) }
    }
}
