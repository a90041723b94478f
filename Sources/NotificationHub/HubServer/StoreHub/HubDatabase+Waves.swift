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
            try SegmentRows.insert(parts, of: send, database)
            if let waves { try SegmentRows.apply(waves, of: send, database) }
        }
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
            try SegmentRows.insert(parts, of: wave.send, database)
            try SegmentRows.apply(change, of: wave.send, database)
        }
    }

    /// Makes the send wait for its retries, or ends it.
    package func endWaves(ofSend send: Int64, at now: Timestamp) async throws -> Bool {
        try await pool.write { database in
            let hasWaves = try Int.fetchOne(
                database, sql: "SELECT 1 FROM send_wave WHERE send = ? LIMIT 1", arguments: [send])
            guard hasWaves != nil else { return false }
            if let next = try SegmentRows.nextTurn(of: send, database) {
                try database.execute(sql: "UPDATE send SET next_at = ? WHERE number = ?", arguments: [next, send])
                try SegmentRows.scheduleClosedSegmentsNow(ofSend: send, database)
            } else {
                try SegmentRows.complete(send, at: now, database)
            }
            return true
        }
    }

    /// Records the time at which the send continues.
    package func rest(_ send: Int64, until instant: Timestamp) async throws {
        try await pool.write { database in
            try database.execute(
                sql: "UPDATE send SET next_at = ? WHERE number = ? AND ended_at IS NULL",
                arguments: [min(instant.rawValue, try RecipientRows.nextRetry(of: send, database) ?? .max), send])
            try SegmentRows.scheduleClosedSegmentsNow(ofSend: send, database)
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
                    let known = try missed[number] ?? SegmentRows.missed(number, database)
                    missed[number] = known
                    audience = try self.reached(row, send: number, database: database).subtracting(known)
                } catch is UnreadableSend {
                    unreadable.insert(number)
                    guard let whole = try SegmentRows.whole(row["audience"], of: number, database) else { continue }
                    audience = whole
                }
                found[number] = found[number].map { $0.union(audience) } ?? audience
            }
            return CampaignReach(audiences: Array(found.values), unreadable: unreadable.sorted())
        }
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
                try RecipientRows.endRetries(of: send, word: SendState.abandoned.rawValue, database)
            }
        }
    }
}

extension HubDatabase {

    /// Reads rows by the index of retries.
    package func dueRetries(of send: Int64, at now: Timestamp, limit: Int) async throws -> [SendRecipient] {
        try await pool.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM send_recipient WHERE send = ? AND retry_at IS NOT NULL AND retry_at <= ?
                    ORDER BY retry_at LIMIT ?
                    """, arguments: [send, now.rawValue, limit]
            ).compactMap(SendRecipient.init)
        }
    }

    /// Reads a page by the primary key.
    package func recipients(
        of send: Int64, after place: (installation: UInt32, part: String)?, limit: Int
    ) async throws -> [SendRecipient] {
        try await pool.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM send_recipient WHERE send = ? AND (installation, part) > (?, ?)
                    ORDER BY installation, part LIMIT ?
                    """, arguments: [send, place.map { Int64($0.installation) } ?? -1, place?.part ?? "", limit]
            ).compactMap(SendRecipient.init)
        }
    }

    /// Reads rows by the index of those without a final end.
    package func openRecipients(
        of send: Int64, lookedUpBefore instant: Timestamp, limit: Int
    ) async throws -> [SendRecipient] {
        try await pool.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM send_recipient WHERE send = ? AND looked_up_at IS NOT NULL AND looked_up_at < ?
                    ORDER BY looked_up_at LIMIT ?
                    """, arguments: [send, instant.rawValue, limit]
            ).compactMap(SendRecipient.init)
        }
    }

    /// Reads rows by the index of installations.
    package func openRecipients(for installation: UInt32) async throws -> [(send: Int64, recipient: SendRecipient)] {
        try await pool.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM send_recipient
                    WHERE installation = ? AND ending IN ('waiting', 'delivered', 'presented')
                    """, arguments: [Int64(installation)]
            ).compactMap { row -> (send: Int64, recipient: SendRecipient)? in
                guard let recipient = SendRecipient(row) else { return nil }
                return (row["send"], recipient)
            }
        }
    }

    /// Reads rows by the index of their installations.
    package func recipients(for installation: UInt32) async throws -> [(send: Int64, recipient: SendRecipient)] {
        try await pool.read { database in
            try Row.fetchAll(
                database, sql: "SELECT * FROM send_recipient WHERE installation = ? ORDER BY send, part",
                arguments: [Int64(installation)]
            ).compactMap { row -> (send: Int64, recipient: SendRecipient)? in
                guard let recipient = SendRecipient(row) else { return nil }
                return (row["send"], recipient)
            }
        }
    }

    /// Updates the rows in one transaction.
    package func updateRecipients(_ recipients: [SendRecipient], of send: Int64, lookedUpAt now: Timestamp) async throws
    {
        try await pool.write { database in
            let statement = try database.cachedStatement(
                sql: """
                    UPDATE send_recipient SET ending = ?, reached = ?, looked_up_at = ?
                    WHERE send = ? AND installation = ? AND part = ?
                    """)
            for recipient in recipients {
                try statement.execute(
                    arguments: [
                        recipient.end.rawValue, recipient.reached.rawValue, recipient.end.isFinal ? nil : now.rawValue,
                        send, Int64(recipient.installation), recipient.part,
                    ])
            }
        }
    }

    /// Pairs the rows of deleted members, which have the reason `Gone`, with the rows of copies without an owner.
    package func matchDeletedRecipients(_ count: Int, of part: SendSegment) async throws {
        let ofPart = "FROM send_recipient WHERE send = ? AND list = ? AND"
        try await pool.write { database in
            let gone = try Int64.fetchAll(
                database,
                sql: "SELECT installation \(ofPart) installation <> 0 AND reason = 'Gone' AND attempts = 0 LIMIT ?",
                arguments: [part.send, part.number, count])
            let copies = try String.fetchAll(
                database, sql: "SELECT part \(ofPart) installation = 0 ORDER BY part LIMIT ?",
                arguments: [part.send, part.number, count])
            for (installation, copy) in zip(gone, copies) {
                try database.execute(
                    sql: "DELETE FROM send_recipient WHERE send = ? AND installation = ? AND part = ''",
                    arguments: [part.send, installation])
                try database.execute(
                    sql: """
                        UPDATE send_recipient SET installation = ?, part = '' WHERE send = ? AND installation = 0 AND part = ?
                        """, arguments: [installation, part.send, copy])
            }
        }
    }

    /// Counts rows by all properties that reports distinguish.
    package func recipientCounts(
        of send: Int64
    ) async throws -> (counts: [RecipientCount], installations: Int, byPart: [Int64: PartRows]) {
        try await pool.read { database in
            // Each row with a deleted installation counts as one installation.
            let installations = try Int.fetchOne(
                database,
                sql: """
                    SELECT COUNT(DISTINCT NULLIF(installation, 0)) + COUNT(*) FILTER (WHERE installation = 0)
                    FROM send_recipient WHERE send = ?
                    """, arguments: [send])
            let byPart = try Row.fetchAll(
                database,
                sql: """
                    SELECT list, COUNT(*), COUNT(*) FILTER (WHERE installation = 0) FROM send_recipient
                    WHERE send = ? AND list IS NOT NULL GROUP BY list
                    """, arguments: [send]
            ).map { ($0[0] as Int64, PartRows(count: $0[1], ownerless: $0[2])) }
            let counts = try Row.fetchAll(
                database,
                sql: """
                    SELECT platform, locale, app_version, variant, outcome, reason, ending, reached, attempts > 0 AS tried,
                        COUNT(*) AS count
                    FROM send_recipient WHERE send = ? GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
                    """, arguments: [send]
            ).compactMap { row -> RecipientCount? in
                guard let platform = HubPlatform(rawValue: row["platform"]),
                    let end = SendReport.End(rawValue: row["ending"])
                else { return nil }
                return RecipientCount(
                    platform: platform, locale: row["locale"], appVersion: row["app_version"], variant: row["variant"],
                    outcome: (row["outcome"] as String?).flatMap(SendOutcome.init), reason: row["reason"], end: end,
                    reached: .init(rawValue: row["reached"]), isTried: row["tried"], count: row["count"])
            }
            return (counts, installations ?? 0, Dictionary(byPart, uniquingKeysWith: { $1 }))
        }
    }

    /// Reads the numbers by the primary key.
    package func installationsWithRow(ofSend send: Int64) async throws -> Bitmap {
        try await pool.read { try RecipientRows.installationsWithRow(ofSend: send, $0) }
    }
}

extension SendRecipient {
    /// The row without its identity, if the installation was deleted.
    func nameless(_ gone: Set<UInt32>) -> SendRecipient {
        guard gone.contains(installation) else { return self }
        var row = self
        (row.name, row.locale) = ("", nil)
        if row.retryAt != nil { (row.end, row.reason, row.retryAt) = (.ineligible, "Gone", nil) }
        return row
    }

    /// Creates the recipient from a row; `nil` for a row that this code did not write.
    init?(_ row: Row) {
        guard let number = UInt32(exactly: row["installation"] as Int64),
            let platform = HubPlatform(rawValue: row["platform"]), let end = SendReport.End(rawValue: row["ending"])
        else { return nil }
        self.init(
            installation: number, part: row["part"], name: row["name"], platform: platform, locale: row["locale"],
            appVersion: row["app_version"], outcome: (row["outcome"] as String?).flatMap(SendOutcome.init),
            reason: row["reason"], end: end, at: Timestamp(rawValue: row["at"]), attempts: row["attempts"],
            firstAt: Timestamp(rawValue: row["first_at"]),
            retryAt: (row["retry_at"] as Int64?).map { Timestamp(rawValue: $0) })
        reached = Reached(rawValue: row["reached"])
        list = row["list"]
        variant = row["variant"]
        notification = (row["notification"] as Int64?).map { NotificationID(rawValue: $0) }
    }
}
