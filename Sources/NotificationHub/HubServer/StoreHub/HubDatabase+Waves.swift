import Foundation
import GRDB
import HubProtocol
import PushCore

extension HubDatabase {
    /// Stores the audience, and those of the waves, in the portable format of Roaring bitmaps.
    package func begin(
        _ send: Int64, audience: Bitmap, targeted: Int, waves: WaveChange?, parts: [SendPartDraft], at now: Timestamp
    ) async throws {
        let isOver = targeted == 0 || waves?.waves.isEmpty == true
        let state: SendState = targeted == 0 ? .noTargetFound : isOver ? .completed : .processing
        let blob = Data(audience.portable)
        try await pool.write { database in
            // A send that was cancelled or paused meanwhile does not begin.
            try database.execute(
                sql: """
                    UPDATE send SET state = ?, started_at = ?, ended_at = ?, targeted = ?, audience = ?
                    WHERE number = ? AND started_at IS NULL AND state IN ('Enqueued', 'Scheduled', 'Processing')
                    """,
                arguments: [state.rawValue, now.rawValue, isOver ? now.rawValue : nil, targeted, blob, send])
            guard database.changesCount == 1 else { return }
            try Self.note(parts, of: send, database)
            if let waves { try Self.note(waves, of: send, database) }
        }
    }

    private static func note(_ change: WaveChange, of send: Int64, _ database: Database) throws {
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

    static func add(_ count: Int, to name: String, of send: Int64, _ database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO send_count(send, name, count) VALUES (?, ?, ?)
                ON CONFLICT DO UPDATE SET count = count + excluded.count
                """, arguments: [send, name, count])
    }

    static func note(
        _ evidence: EnvironmentEvidence, fault: String?, of send: Int64, database: Database
    ) throws {
        if evidence.right > 0 { try add(evidence.right, to: "environment right", of: send, database) }
        if evidence.bad > 0 { try add(evidence.bad, to: "environment bad", of: send, database) }
        guard let fault else { return }
        try database.execute(
            sql: "UPDATE send SET reason = ? WHERE number = ? AND reason IS NULL", arguments: [fault, send])
    }

    /// Reads the counts of valid and invalid tokens.
    package func environmentEvidence(of send: Int64) async throws -> EnvironmentEvidence {
        let counts = Dictionary(try await counts(of: send, prefix: "environment "), uniquingKeysWith: +)
        return EnvironmentEvidence(right: counts["right"] ?? 0, bad: counts["bad"] ?? 0)
    }

    /// Reads the index of waves.
    package func nextWave(ofSend send: Int64) async throws -> SendBatch? {
        try await pool.read { database in
            try Row.fetchOne(
                database,
                sql: """
                    SELECT due_at, opened_at FROM send_wave WHERE send = ? AND ended_at IS NULL ORDER BY due_at LIMIT 1
                    """, arguments: [send]
            ).map { row in
                SendBatch(
                    send: send, dueAt: Timestamp(rawValue: row["due_at"]),
                    openedAt: (row["opened_at"] as Int64?).map { Timestamp(rawValue: $0) })
            }
        }
    }

    /// Reads the wave's audience; those of recently run sends are cached.
    package func audience(of wave: SendBatch) async throws -> Bitmap {
        if let known = waveAudiences.withLock({ $0[wave.send] }), known.wave == wave { return known.audience }
        let audience = try await pool.read { database in
            let blob = try Data.fetchOne(
                database, sql: "SELECT audience FROM send_wave WHERE send = ? AND due_at = ?",
                arguments: [wave.send, wave.dueAt.rawValue])
            return try blob.map { try Bitmap(stored: $0, of: "wave") } ?? Bitmap()
        }
        // Before a wave is opened it may still grow.
        if wave.openedAt != nil {
            waveAudiences.withLock { known in
                if known.count >= Self.mostWaveAudiences { known.removeAll() }
                known[wave.send] = (wave, audience)
            }
        }
        return audience
    }

    /// Reads the union of the audiences of the send's waves.
    package func audienceOfWaves(ofSend send: Int64) async throws -> Bitmap {
        try await pool.read { database in
            try Data.fetchAll(database, sql: "SELECT audience FROM send_wave WHERE send = ?", arguments: [send])
                .reduce(Bitmap()) { $0.union(try Bitmap(stored: $1, of: "wave")) }
        }
    }

    /// Updates the wave and adds the later ones.
    package func open(
        _ wave: SendBatch, audience: Bitmap, _ change: WaveChange, parts: [SendPartDraft], at now: Timestamp
    ) async throws {
        let blob = Data(audience.portable)
        waveAudiences.withLock { $0[wave.send] = nil }
        try await pool.write { database in
            try database.execute(
                sql: """
                    UPDATE send_wave SET audience = ?, opened_at = ? WHERE send = ? AND due_at = ? AND opened_at IS ?
                    """,
                arguments: [blob, now.rawValue, wave.send, wave.dueAt.rawValue, wave.openedAt?.rawValue])
            guard database.changesCount == 1 else { return }
            try Self.note(parts, of: wave.send, database)
            try Self.note(change, of: wave.send, database)
        }
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
    private static func nextTurn(of send: Int64, _ database: Database) throws -> Int64? {
        let wave = try Int64.fetchOne(
            database, sql: "SELECT MIN(due_at) FROM send_wave WHERE send = ? AND ended_at IS NULL", arguments: [send])
        let retry = try nextRetry(of: send, database)
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

    /// Makes the send wait for its retries, or ends it.
    package func endWaves(ofSend send: Int64, at now: Timestamp) async throws -> Bool {
        try await pool.write { database in
            let hasWaves = try Int.fetchOne(
                database, sql: "SELECT 1 FROM send_wave WHERE send = ? LIMIT 1", arguments: [send])
            guard hasWaves != nil else { return false }
            if let next = try Self.nextTurn(of: send, database) {
                try database.execute(sql: "UPDATE send SET next_at = ? WHERE number = ?", arguments: [next, send])
                try Self.scheduleClosedSegmentsNow(ofSend: send, database)
            } else {
                try Self.complete(send, at: now, database)
            }
            return true
        }
    }

    /// Records the time at which the send continues.
    package func rest(_ send: Int64, until instant: Timestamp) async throws {
        try await pool.write { database in
            try database.execute(
                sql: "UPDATE send SET next_at = ? WHERE number = ? AND ended_at IS NULL",
                arguments: [min(instant.rawValue, try Self.nextRetry(of: send, database) ?? .max), send])
            try Self.scheduleClosedSegmentsNow(ofSend: send, database)
        }
    }

    /// Reads the waves by their times. Of a campaign that was ended, the waves that were opened and all broadcast parts
    /// count, since their members may have it. Recipients that it did not reach are excluded.
    package func reached(hub: Int64, since instant: Timestamp, but send: Int64) async throws -> CampaignReach {
        try await pool.read { database in
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT send, send_wave.audience, cursor, send.ended_at IS NOT NULL AND send_wave.ended_at IS NULL AS cut
                    FROM send_wave JOIN send ON send.number = send
                    WHERE send_wave.due_at > ? AND hub = ? AND send <> ?
                        AND (send.ended_at IS NULL OR opened_at IS NOT NULL)
                    """, arguments: [instant.rawValue, hub, send])
            var found: [Int64: Bitmap] = [:]
            var unreadable: Set<Int64> = []
            var missed: [Int64: Bitmap] = [:]
            while let row = try rows.next() {
                let number: Int64 = row["send"]
                let audience: Bitmap
                do {
                    let known = try missed[number] ?? Self.missed(number, database)
                    missed[number] = known
                    audience = try self.reached(row, send: number, database: database).subtracting(known)
                } catch is UnreadableSend {
                    unreadable.insert(number)
                    guard let whole = try Self.whole(row["audience"], of: number, database) else { continue }
                    audience = whole
                }
                found[number] = found[number].map { $0.union(audience) } ?? audience
            }
            return CampaignReach(audiences: Array(found.values), unreadable: unreadable.sorted())
        }
    }

    /// The members of a send to which nothing was or will be submitted: refused, left out, or ended before a retry.
    private static func missed(_ send: Int64, _ database: Database) throws -> Bitmap {
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

    /// The members that a wave reached, or will reach.
    private func reached(_ row: Row, send: Int64, database: Database) throws -> Bitmap {
        let audience = try Bitmap(stored: row["audience"], of: "wave")
        guard row["cut"] else { return audience }
        let parts = try Int64.fetchAll(
            database, sql: "SELECT number FROM send_part WHERE send = ? AND broadcast IS NOT NULL", arguments: [send])
        let before = Bitmap(below: UInt32(truncatingIfNeeded: row["cursor"] as Int64))
        return audience.intersection(try parts.reduce(before) { $0.union(try self.audience(ofPart: $1, database)) })
    }

    /// All members of a wave, otherwise of its send; `nil` where neither can be read.
    private static func whole(_ wave: Data, of send: Int64, _ database: Database) throws -> Bitmap? {
        if let audience = Bitmap(portable: Array(wave)) { return audience }
        let stored = try Data.fetchOne(database, sql: "SELECT audience FROM send WHERE number = ?", arguments: [send])
        return stored.flatMap { Bitmap(portable: Array($0)) }
    }

    /// Reads the counts of members that are left out.
    package func leftOut(of send: Int64) async throws -> [ExclusionReason: Int] {
        Dictionary(
            try await counts(of: send, prefix: "left ").compactMap { name, count in
                ExclusionReason(rawValue: name).map { ($0, count) }
            }, uniquingKeysWith: +)
    }

    /// Reads the audiences of the members that are left out.
    package func audiencesLeftOut(ofSend send: Int64) async throws -> [ExclusionReason: Bitmap] {
        try await pool.read { database in
            var found: [ExclusionReason: Bitmap] = [:]
            for row in try Row.fetchAll(
                database, sql: "SELECT why, audience FROM send_left_out WHERE send = ?", arguments: [send])
            {
                guard let why = ExclusionReason(rawValue: row["why"]) else { continue }
                found[why] = try Bitmap(stored: row["audience"], of: "those left out")
            }
            return found
        }
    }

    /// Reads the counts of variants.
    package func variants(of send: Int64) async throws -> [String: Int] {
        Dictionary(try await counts(of: send, prefix: "variant "), uniquingKeysWith: +)
    }

    private func counts(of send: Int64, prefix: String) async throws -> [(String, Int)] {
        try await pool.read { database in
            try Row.fetchAll(database, sql: "SELECT name, count FROM send_count WHERE send = ?", arguments: [send])
                .compactMap { row in
                    let name: String = row["name"]
                    return name.hasPrefix(prefix) ? (String(name.dropFirst(prefix.count)), row["count"]) : nil
                }
        }
    }

    /// Notes the state and the reason.
    package func abandon(_ send: Int64, reason: String, at now: Timestamp) async throws {
        try await pool.write { database in
            try database.execute(
                sql: "UPDATE send SET state = ?, ended_at = ?, reason = ? WHERE number = ? AND ended_at IS NULL",
                arguments: [SendState.abandoned.rawValue, now.rawValue, reason, send])
            if database.changesCount == 1 {
                try Self.endRetries(of: send, word: SendState.abandoned.rawValue, database)
            }
        }
    }
}
