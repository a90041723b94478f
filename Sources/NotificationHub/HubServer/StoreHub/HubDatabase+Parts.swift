import HubProtocol
import PushCore
import PushServer

/// Broadcast parts of sends, and their members.
extension HubDatabase {
    /// Reads the first part without a broadcast, or without a successor.
    package func nextPart(ofSend send: Int64) async throws -> SendPart? {
        try await database.read { sql in
            try sql.row(
                """
                \(Self.parts) WHERE send = ? AND withdrawn_at IS NULL AND (broadcast IS NULL OR closure = ?)
                ORDER BY number LIMIT 1
                """, send, PartClosure.closed.rawValue
            ).map { try SendPart($0) }
        }
    }

    /// Reads the rows, without the audiences.
    package func parts(ofSend send: Int64) async throws -> [SendPart] {
        try await database.read { sql in
            try sql.rows("\(Self.parts) WHERE send = ? ORDER BY number", send).map { try SendPart($0) }
        }
    }

    /// Searches the hub's parts that make copies now. A part that cannot be read may contain any installation.
    package func openParts(with installation: UInt32, hub: Int64, at now: Timestamp) async throws -> [SendPart] {
        try await database.read { sql in
            try sql.rows(
                """
                \(Self.parts) WHERE send IN (SELECT number FROM send WHERE hub = ?)
                    AND broadcast IS NOT NULL AND withdrawn_at IS NULL AND expires_at > ?
                """, hub, now
            ).map { try SendPart($0) }.filter { part in
                do {
                    return try self.audience(ofPart: part.number, sql).contains(installation)
                } catch is UnreadableSend { return true }
            }
        }
    }

    private static let parts = """
        SELECT number, send, locale, variant, count, broadcast, expires_at, withdrawn_at, followed, closure
        FROM send_part
        """

    /// Reads the audience; those of recently used parts are cached.
    package func audience(of part: SendPart) async throws -> Bitmap {
        try await database.read { try self.audience(ofPart: part.number, $0) }
    }

    func audience(ofPart number: Int64, _ sql: any SQLConnection) throws -> Bitmap {
        // The count of a part decreases each time that members are moved out.
        let count: Int? = try sql.row("SELECT count FROM send_part WHERE number = ?", number)?["count"]
        if let known = partAudiences.withLock({ $0[number] }), known.count == count { return known.audience }
        let blob: [UInt8]? = try sql.row("SELECT audience FROM send_part WHERE number = ?", number)?["audience"]
        let audience = try blob.map { try Bitmap(stored: $0, of: "part") } ?? Bitmap()
        partAudiences.withLock { known in
            if known.count >= Self.mostPartAudiences { known.removeAll() }
            known[number] = (count, audience)
        }
        return audience
    }

    /// Records the broadcast's id.
    package func setBroadcast(_ broadcast: AcceptedBroadcast, of part: SendPart) async throws {
        try await database.write { sql in
            try sql.run(
                "UPDATE send_part SET broadcast = ?, expires_at = ? WHERE number = ?", broadcast.id,
                broadcast.expiresAt, part.number)
        }
    }

    /// Checks each member without a row.
    package func remaining(of part: SendPart) async throws -> Bitmap {
        try await database.read { sql in
            let members = try self.audience(ofPart: part.number, sql)
                .subtracting(try RecipientRows.installationsWithRow(ofSend: part.send, sql))
            var found = Bitmap()
            var next: UInt32? = 0
            while let start = next {
                let numbers = Array(members.numbers(from: start, limit: 10_000))
                let results = try sql.execute(
                    """
                    SELECT 1 AS one FROM installation WHERE number = ? AND platform = 'aldaba' AND channel IS NOT NULL
                        AND fault IS NULL AND channel_moment < (SELECT moment FROM send_part WHERE number = ?)
                    """, each: numbers.map { [$0.parameter, part.number.parameter] })
                for (number, result) in zip(numbers, results) where !result.rows.isEmpty { found.insert(number) }
                next = numbers.last.flatMap { $0 < .max ? $0 + 1 : nil }
            }
            return found
        }
    }

    /// Updates the row and adds another.
    package func divide(_ part: SendPart, leaving rest: Bitmap) async throws {
        try await change(send: part.send) { sql in
            let left = try self.audience(ofPart: part.number, sql).subtracting(rest)
            let changed = try sql.run(
                "UPDATE send_part SET closure = ?, audience = ?, count = ? WHERE number = ? AND closure = ?",
                PartClosure.succeeded.rawValue, left.portable, left.count, part.number, PartClosure.closed.rawValue)
            guard changed == 1, !rest.isEmpty else { return }
            try sql.run(
                """
                INSERT INTO send_part(send, moment, locale, variant, audience, count, expires_at)
                SELECT send, moment, locale, variant, ?, ?, expires_at FROM send_part WHERE number = ?
                """, rest.portable, rest.count, part.number)
        }
    }

    /// Deletes the row.
    package func drop(_ part: SendPart) async throws {
        try await database.write { sql in
            try sql.run("DELETE FROM send_part WHERE number = ? AND broadcast IS NULL", part.number)
        }
    }

    /// Records the time of the withdrawal.
    package func noteWithdrawn(_ part: SendPart, at now: Timestamp) async throws {
        try await database.write { sql in
            try sql.run("UPDATE send_part SET withdrawn_at = ? WHERE number = ?", now, part.number)
        }
    }

    /// Writes the rows, unless a concurrent call has gone further.
    package func storeRecipients(
        _ recipients: [SendRecipient], of part: SendPart, upTo copy: NotificationID
    ) async throws {
        try await change(send: part.send) { sql in
            let changed = try sql.run(
                "UPDATE send_part SET followed = ? WHERE number = ? AND followed IS NOT DISTINCT FROM ?", copy,
                part.number, part.followed)
            guard changed == 1 else { return }
            try RecipientRows.write(recipients, of: part.send, sql)
        }
    }

    /// Reads each row, and its audience unless that is cached.
    package func openLists(_ parts: [Int64]) throws -> [Int64: BroadcastMembers] {
        try database.readBlocking { sql in
            let results = try sql.execute(
                """
                SELECT hub.number AS hub, generation, version, send_part.moment AS moment, state FROM send_part
                JOIN send ON send.number = send JOIN hub ON hub.number = send.hub
                WHERE send_part.number = ? AND withdrawn_at IS NULL AND closure = \(PartClosure.open.rawValue)
                """, each: parts.map { [$0.parameter] })
            var lists: [Int64: BroadcastMembers] = [:]
            for (part, result) in zip(parts, results) {
                guard let row = result.rows.first, let state = SendState(rawValue: try row["state"]),
                    ![.canceled, .abandoned, .paused].contains(state)
                else { continue }
                do {
                    lists[part] = BroadcastMembers(
                        hub: try row["hub"], generation: try row["generation"], version: try row["version"],
                        moment: try row["moment"], audience: try audience(ofPart: part, sql))
                } catch is UnreadableSend {
                    // An unreadable list has no members: the runner gives the send up.
                    continue
                }
            }
            return lists
        }
    }
}

/// Owners of device tokens of this server.
extension HubDatabase {
    /// A condition that uses the index of the first 16 digits, which contain 64 bits of a sealed token.
    private static let ofToken = """
        WHERE hub = ? AND platform = 'aldaba' AND channel IS NOT NULL AND lower(substr(channel, 1, 16)) = ?
            AND lower(channel) = ?
        """

    private static func parameters(_ hub: Int64, _ token: String) -> [SQLParameter] {
        [hub.parameter, String(token.prefix(16)).parameter, token.parameter]
    }

    /// Reads one installation for each token.
    package func owners(_ tokens: [String], hub: Int64) async throws -> [String: StoredInstallation] {
        try await database.read { sql in
            let results = try sql.execute(
                "SELECT * FROM installation \(Self.ofToken)", each: tokens.map { Self.parameters(hub, $0) })
            var owners: [String: StoredInstallation] = [:]
            for (token, result) in zip(tokens, results) {
                owners[token] = try result.rows.first.flatMap { try StoredInstallation($0) }
            }
            return owners
        }
    }

    /// Finds each token in every hub. The entity tags stay the same.
    package func markSeen(_ tokens: [String], at now: Timestamp, committed: @escaping Committed) async throws {
        guard !tokens.isEmpty else { return }
        let minute = Timestamp(rawValue: now.rawValue / 60_000 * 60_000)
        let isUnseen = "\(Self.ofToken) AND fault IS NULL AND updated_at < ? AND (seen_at IS NULL OR seen_at < ?)"
        @Sendable func parameters(_ hub: Int64) -> [[SQLParameter]] {
            tokens.map { Self.parameters(hub, $0) + [minute.parameter, minute.parameter] }
        }
        let hubs = try await database.read { sql in
            try sql.rows("SELECT number FROM hub").map { try $0["number"] as Int64 }.filter { hub in
                let results = try sql.execute("SELECT number FROM installation \(isUnseen)", each: parameters(hub))
                return results.contains { !$0.rows.isEmpty }
            }
        }
        for hub in hubs {
            _ = try await database.write { sql in
                try Self.lock(hub: hub, sql)
                let results = try sql.execute(
                    "UPDATE installation SET seen_at = ? \(isUnseen) RETURNING number",
                    each: parameters(hub).map { [now.parameter] + $0 })
                let seen: [UInt32] = try results.flatMap { try $0.rows.map { try $0["number"] } }
                return try AudienceLog.record([], seen: seen, at: now, hub: hub, sql)
            } committed: { commits in
                committed(commits)
            }
        }
    }

    /// Reads one row for each token.
    package func tokenOwners(_ registrations: [[String]], hub: Int64) throws -> [[TokenOwner]] {
        try database.readBlocking { sql in
            let results = try sql.execute(
                "SELECT number, channel_moment, expires_at FROM installation \(Self.ofToken) AND fault IS NULL",
                each: registrations.flatMap { $0.map { Self.parameters(hub, $0) } })
            var rest = results[...]
            return try registrations.map { tokens in
                let found = rest.prefix(tokens.count)
                rest = rest.dropFirst(tokens.count)
                return try found.flatMap { result in
                    try result.rows.map { row in
                        TokenOwner(
                            number: try row["number"], moment: try row["channel_moment"],
                            expiresAt: try row["expires_at"])
                    }
                }
            }
        }
    }
}

extension SendPart {
    fileprivate init(_ row: any SQLRow) throws {
        self.init(
            number: try row["number"], send: try row["send"], locale: try row["locale"], variant: try row["variant"],
            count: try row["count"], broadcast: try row["broadcast"], expiresAt: try row["expires_at"],
            withdrawnAt: try row["withdrawn_at"], followed: try row["followed"])
        closure = PartClosure(rawValue: try row["closure"]) ?? .closed
    }
}
