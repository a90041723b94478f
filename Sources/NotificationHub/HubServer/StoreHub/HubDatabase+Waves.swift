import HubProtocol
import PushCore
import PushServer

extension HubDatabase {
    /// Stores the audience, and those of the waves, in the portable format of Roaring bitmaps.
    package func begin(
        _ send: Int64, audience: Bitmap, targeted: Int, waves: WaveChange?, parts: [SendPartDraft], at now: Timestamp
    ) async throws {
        let isOver = targeted == 0 || waves?.waves.isEmpty == true
        let state: SendState = targeted == 0 ? .noTargetFound : isOver ? .completed : .processing
        let blob = audience.portable
        try await change(send: send) { sql in
            // A send that was cancelled or paused meanwhile does not begin.
            let begun = try sql.run(
                """
                UPDATE send SET state = ?, started_at = ?, ended_at = ?, targeted = ?, audience = ?
                WHERE number = ? AND started_at IS NULL AND state IN ('Enqueued', 'Scheduled', 'Processing')
                """, state, now, isOver ? now : nil, targeted, blob, send)
            guard begun == 1 else { return }
            try SendPartRows.insert(parts, of: send, sql)
            if let waves { try SendPartRows.apply(waves, of: send, sql) }
        }
    }

    /// Reads the counts of valid and invalid tokens.
    package func environmentEvidence(of send: Int64) async throws -> EnvironmentEvidence {
        let counts = Dictionary(try await counts(of: send, prefix: "environment "), uniquingKeysWith: +)
        return EnvironmentEvidence(right: counts["right"] ?? 0, bad: counts["bad"] ?? 0)
    }

    /// Reads the index of waves.
    package func nextWave(ofSend send: Int64) async throws -> SendWave? {
        try await database.read { sql in
            try sql.row(
                "SELECT due_at, opened_at FROM send_wave WHERE send = ? AND ended_at IS NULL ORDER BY due_at LIMIT 1",
                send
            ).map { SendWave(send: send, dueAt: try $0["due_at"], openedAt: try $0["opened_at"]) }
        }
    }

    /// Reads the wave's audience; those of recently run sends are cached.
    package func audience(of wave: SendWave) async throws -> Bitmap {
        if let known = waveAudiences.withLock({ $0[wave.send] }), known.wave == wave { return known.audience }
        let audience = try await database.read { sql in
            let blob: [UInt8]? = try sql.row(
                "SELECT audience FROM send_wave WHERE send = ? AND due_at = ?", wave.send, wave.dueAt)?["audience"]
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
        try await database.read { sql in
            try sql.rows("SELECT audience FROM send_wave WHERE send = ?", send)
                .reduce(Bitmap()) { $0.union(try Bitmap(stored: try $1["audience"], of: "wave")) }
        }
    }

    /// Updates the wave and adds the later ones.
    package func open(
        _ wave: SendWave, audience: Bitmap, _ change: WaveChange, parts: [SendPartDraft], at now: Timestamp
    ) async throws {
        let blob = audience.portable
        waveAudiences.withLock { $0[wave.send] = nil }
        try await self.change(send: wave.send) { sql in
            let opened = try sql.run(
                """
                UPDATE send_wave SET audience = ?, opened_at = ?
                WHERE send = ? AND due_at = ? AND opened_at IS NOT DISTINCT FROM ?
                """, blob, now, wave.send, wave.dueAt, wave.openedAt)
            guard opened == 1 else { return }
            try SendPartRows.insert(parts, of: wave.send, sql)
            try SendPartRows.apply(change, of: wave.send, sql)
        }
    }

    /// Makes the send wait for its retries, or ends it.
    package func endWaves(ofSend send: Int64, at now: Timestamp) async throws -> Bool {
        try await change(send: send) { sql in
            guard try sql.row("SELECT 1 AS one FROM send_wave WHERE send = ? LIMIT 1", send) != nil else {
                return false
            }
            if let next = try SendPartRows.nextTurn(of: send, sql) {
                try sql.run("UPDATE send SET next_at = ? WHERE number = ?", next, send)
                try SendPartRows.scheduleClosedPartsNow(ofSend: send, sql)
            } else {
                try SendPartRows.complete(send, at: now, sql)
            }
            return true
        }
    }

    /// Records the time at which the send continues.
    package func rest(_ send: Int64, until instant: Timestamp) async throws {
        try await change(send: send) { sql in
            let next = try RecipientRows.nextRetry(of: send, sql)
            try sql.run(
                "UPDATE send SET next_at = ? WHERE number = ? AND ended_at IS NULL", min(instant, next ?? instant), send
            )
            try SendPartRows.scheduleClosedPartsNow(ofSend: send, sql)
        }
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
        try await database.read { sql in
            var found: [ExclusionReason: Bitmap] = [:]
            for row in try sql.rows("SELECT why, audience FROM send_left_out WHERE send = ?", send) {
                guard let why = ExclusionReason(rawValue: try row["why"]) else { continue }
                found[why] = try Bitmap(stored: try row["audience"], of: "those left out")
            }
            return found
        }
    }

    /// Reads the counts of variants.
    package func variants(of send: Int64) async throws -> [String: Int] {
        Dictionary(try await counts(of: send, prefix: "variant "), uniquingKeysWith: +)
    }

    private func counts(of send: Int64, prefix: String) async throws -> [(String, Int)] {
        try await database.read { sql in
            try sql.rows("SELECT name, count FROM send_count WHERE send = ?", send).compactMap { row in
                let name: String = try row["name"]
                return name.hasPrefix(prefix) ? (String(name.dropFirst(prefix.count)), try row["count"]) : nil
            }
        }
    }

    /// Notes the state and the reason.
    package func abandon(_ send: Int64, reason: String, at now: Timestamp) async throws {
        try await change(send: send) { sql in
            let changed = try sql.run(
                "UPDATE send SET state = ?, ended_at = ?, reason = ? WHERE number = ? AND ended_at IS NULL",
                SendState.abandoned, now, reason, send)
            if changed == 1 { try RecipientRows.endRetries(of: send, word: SendState.abandoned.rawValue, sql) }
        }
    }
}

/// The recipients of a hub's campaigns, for caps.
extension HubDatabase {
    /// Reads the waves by their times. Of a campaign that was ended, the waves that were opened and all broadcast parts
    /// count, since their members may have it. Recipients that it did not reach are excluded.
    package func reached(hub: Int64, since instant: Timestamp, but send: Int64) async throws -> CampaignReach {
        try await database.read { sql in
            let rows = try sql.rows(
                """
                SELECT send, send_wave.audience, cursor, send.ended_at IS NOT NULL AND send_wave.ended_at IS NULL AS cut
                FROM send_wave JOIN send ON send.number = send
                WHERE send_wave.due_at > ? AND hub = ? AND send <> ?
                    AND (send.ended_at IS NULL OR opened_at IS NOT NULL)
                """, instant, hub, send)
            var found: [Int64: Bitmap] = [:]
            var unreadable: Set<Int64> = []
            var missed: [Int64: Bitmap] = [:]
            for row in rows {
                let number: Int64 = try row["send"]
                let audience: Bitmap
                do {
                    let known = try missed[number] ?? SendPartRows.missed(number, sql)
                    missed[number] = known
                    audience = try self.reached(row, send: number, sql).subtracting(known)
                } catch is UnreadableSend {
                    unreadable.insert(number)
                    guard let whole = try SendPartRows.whole(try row["audience"], of: number, sql) else { continue }
                    audience = whole
                }
                found[number] = found[number].map { $0.union(audience) } ?? audience
            }
            return CampaignReach(audiences: Array(found.values), unreadable: unreadable.sorted())
        }
    }

    /// The members that a wave reached, or will reach.
    private func reached(_ row: any SQLRow, send: Int64, _ sql: any SQLConnection) throws -> Bitmap {
        let audience = try Bitmap(stored: try row["audience"], of: "wave")
        guard try row["cut"] else { return audience }
        let parts = try sql.rows("SELECT number FROM send_part WHERE send = ? AND broadcast IS NOT NULL", send)
        let before = Bitmap(below: UInt32(truncatingIfNeeded: try row["cursor"] as Int64))
        return audience.intersection(
            try parts.reduce(before) { $0.union(try self.audience(ofPart: try $1["number"], sql)) })
    }
}

/// The rows of sends' recipients.
extension HubDatabase {
    /// Reads rows by the index of retries.
    package func dueRetries(of send: Int64, at now: Timestamp, limit: Int) async throws -> [SendRecipient] {
        try await database.read { sql in
            try RecipientRows.select(
                "send = ? AND retry_at IS NOT NULL AND retry_at <= ? ORDER BY retry_at LIMIT ?",
                [send.parameter, now.parameter, limit.parameter], sql)
        }
    }

    /// Reads a page by the primary key.
    package func recipients(
        of send: Int64, after place: (installation: UInt32, part: String)?, limit: Int
    ) async throws -> [SendRecipient] {
        let (installation, part) = (place.map { Int64($0.installation) } ?? -1, place?.part ?? "")
        return try await database.read { sql in
            try RecipientRows.select(
                "send = ? AND (installation, part) > (?, ?) ORDER BY installation, part LIMIT ?",
                [send.parameter, installation.parameter, part.parameter, limit.parameter], sql)
        }
    }

    /// Reads rows by the index of those without a final end.
    package func openRecipients(
        of send: Int64, lookedUpBefore instant: Timestamp, limit: Int
    ) async throws -> [SendRecipient] {
        try await database.read { sql in
            try RecipientRows.select(
                "send = ? AND looked_up_at IS NOT NULL AND looked_up_at < ? ORDER BY looked_up_at LIMIT ?",
                [send.parameter, instant.parameter, limit.parameter], sql)
        }
    }

    /// Reads rows by the index of installations.
    package func openRecipients(for installation: UInt32) async throws -> [(send: Int64, recipient: SendRecipient)] {
        try await database.read { sql in
            try RecipientRows.all(
                of: installation, where: "AND ending IN ('waiting', 'delivered', 'presented')", sql)
        }
    }

    /// Reads rows by the index of their installations.
    package func recipients(for installation: UInt32) async throws -> [(send: Int64, recipient: SendRecipient)] {
        try await database.read { try RecipientRows.all(of: installation, where: "ORDER BY send, part", $0) }
    }

    /// Updates the rows in one transaction.
    package func updateRecipients(_ recipients: [SendRecipient], of send: Int64, lookedUpAt now: Timestamp) async throws
    {
        try await database.write { try RecipientRows.update(recipients, of: send, lookedUpAt: now, $0) }
    }

    /// Pairs the rows of deleted members, which have the reason `Gone`, with the rows of copies without an owner.
    package func matchDeletedRecipients(_ count: Int, of part: SendPart) async throws {
        try await change(send: part.send) { try RecipientRows.matchDeleted(count, of: part, $0) }
    }

    /// Counts rows by all properties that reports distinguish.
    package func recipientCounts(
        of send: Int64
    ) async throws -> (counts: [RecipientCount], installations: Int, byPart: [Int64: PartRows]) {
        try await database.read { try RecipientRows.count(ofSend: send, $0) }
    }

    /// Reads the numbers by the primary key.
    package func installationsWithRow(ofSend send: Int64) async throws -> Bitmap {
        try await database.read { try RecipientRows.installationsWithRow(ofSend: send, $0) }
    }
}
