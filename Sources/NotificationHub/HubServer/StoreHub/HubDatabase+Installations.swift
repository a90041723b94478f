import HubProtocol
import PushCore
import PushServer

extension HubDatabase {
    /// Writes the document and its columns.
    package func put(
        _ installation: HubProtocol.Installation, hub: Int64, condition: EntityCondition, registersChannel: Bool,
        at now: Timestamp, admission: @escaping Admission, committed: @escaping Committed
    ) async throws -> (StoredInstallation, isNew: Bool)? {
        try await change(hub: hub, committed) { sql, changes -> (StoredInstallation, isNew: Bool)? in
            let row = try InstallationRows.row(sql, hub: hub, id: installation.foldedID)
            let old = try row.flatMap { try StoredInstallation($0) }
            guard condition.holds(old?.version) else { return nil }
            let keeps = registersChannel ? nil : old
            var stored = StoredInstallation(
                number: old?.number ?? 0, installation: installation, version: (old?.version ?? 0) + 1,
                createdAt: old?.createdAt ?? now, updatedAt: now, fault: keeps?.fault)
            let document = InstallationJSON.document(installation).json
            let before = try old.map { old in
                HubPut.Side(entry: old.entry, bytes: try (row?["document"] as String?)?.utf8.count ?? 0)
            }
            let after = HubPut.Side(entry: stored.entry, bytes: document.utf8.count)
            try admission(try Self.judged(hub, before: before, after: after, sql))
            if keeps == nil {
                try InstallationRows.takeChannel(of: installation, hub: hub, at: now, sql, &changes)
            }
            let values = InstallationRows.values(stored, document)
            if old == nil {
                let more = [hub.parameter, installation.foldedID.parameter, now.parameter]
                let added = try sql.execute("\(InstallationRows.inserting) RETURNING number", values + more).rows.first
                // There are numbers for four thousand million installations; none is used again.
                stored.number = try added?["number"] ?? 0
            } else {
                _ = try sql.execute(
                    keeps == nil ? InstallationRows.updating : InstallationRows.patching,
                    values + [stored.number.parameter])
            }
            changes.append(AudienceChange(hub: hub, before: old?.entry, after: stored.entry))
            return (stored, old == nil)
        }
    }

    /// The put as quotas judge it. The counts of the hub stand in its row.
    private static func judged(
        _ hub: Int64, before: HubPut.Side?, after: HubPut.Side, _ sql: any SQLConnection
    ) throws -> HubPut {
        let counts = try sql.row("SELECT installations, document_bytes, version FROM hub WHERE number = ?", hub)
        return HubPut(
            installations: try counts?["installations"] ?? 0, documentBytes: try counts?["document_bytes"] ?? 0,
            version: try counts?["version"] ?? 0, before: before, after: after)
    }

    /// Finds the installation by its lowercased id.
    package func installation(_ id: String, hub: Int64) async throws -> StoredInstallation? {
        try await database.read { try InstallationRows.one($0, hub: hub, id: id.lowercased()) }
    }

    /// Deletes the row; its number is never used again.
    package func delete(
        _ id: String, hub: Int64, condition: EntityCondition, committed: @escaping Committed
    ) async throws -> Bool? {
        try await change(hub: hub, committed) { sql, changes -> Bool? in
            guard let old = try InstallationRows.one(sql, hub: hub, id: id.lowercased()) else { return nil }
            guard condition.holds(old.version) else { return false }
            try InstallationRows.delete(old.number, sql)
            changes.append(AudienceChange(hub: hub, before: old.entry, after: nil))
            return true
        }
    }

    /// Reads one row for each number.
    package func installations(_ numbers: [UInt32], hub: Int64) async throws -> [StoredInstallation] {
        guard !numbers.isEmpty else { return [] }
        return try await database.read { sql in
            try sql.execute(
                "SELECT * FROM installation WHERE number = ? AND hub = ?",
                each: numbers.map { [$0.parameter, hub.parameter] }
            ).compactMap { try $0.rows.first.flatMap { try StoredInstallation($0) } }
        }
    }

    /// Reads a page by the index of numbers.
    package func installations(
        hub: Int64, after number: UInt32, isDead: Bool?, limit: Int
    ) async throws -> [StoredInstallation] {
        let state =
            switch isDead {
            case true?: "AND fault IS NOT NULL"
            case false?: "AND fault IS NULL"
            case nil: ""
            }
        return try await database.read { sql in
            try sql.rows(
                "SELECT * FROM installation WHERE hub = ? AND number > ? \(state) ORDER BY number LIMIT ?", hub, number,
                limit
            ).compactMap { try StoredInstallation($0) }
        }
    }

    /// Finds the installation with the channel now, in any spelling.
    package func installations(hub: Int64, channel: String) async throws -> [StoredInstallation] {
        try await database.read { sql in
            try sql.rows(
                """
                SELECT * FROM installation WHERE hub = ?1 AND channel IN (?2, ?3)
                UNION ALL
                SELECT * FROM installation
                WHERE hub = ?1 AND \(HubSchema.handle) IN (?2, ?3) AND instr(channel, ' ') > 0
                    AND channel NOT IN (?2, ?3)
                ORDER BY number LIMIT 1000
                """, hub, channel, HubPlatform.apns.spelling(ofChannel: channel)
            ).compactMap { try StoredInstallation($0) }.filter { found in
                found.installation.channelHandle == found.installation.platform.spelling(ofChannel: channel)
            }
        }
    }

    /// Finds each by the index of channels, and by that of registrations.
    package func earlierOwners(
        of registrations: [StoredInstallation], hub: Int64, at now: Timestamp
    ) async throws -> [UInt32: [UInt32]] {
        let wanted = registrations.compactMap { registration in
            registration.installation.channelHandle.map { (registration.number, $0) }
        }
        guard !wanted.isEmpty else { return [:] }
        return try await database.read { sql in
            let results = try sql.execute(
                Self.earlier,
                each: wanted.map { [hub.parameter, $1.parameter, $0.parameter, now.parameter] })
            var found: [UInt32: [UInt32]] = [:]
            for ((number, _), result) in zip(wanted, results) where !result.rows.isEmpty {
                found[number] = try result.rows.map { try $0["number"] }
            }
            return found
        }
    }

    /// A query for earlier registrations, of which the first thousand are considered.
    static let earlier = """
        SELECT number FROM installation
        WHERE hub = ?1 AND channel = ?2 AND (expires_at IS NULL OR expires_at > ?4)
        UNION ALL
        SELECT * FROM (
            SELECT number FROM installation
            WHERE hub = ?1 AND \(HubSchema.handle) = ?2 AND instr(channel, ' ') > 0 AND channel = id || ' ' || ?2
                AND number < ?3 AND template_tags IS NULL AND (expires_at IS NULL OR expires_at > ?4)
            ORDER BY number LIMIT 1000) AS registrations
        """

    /// Reads numbers by the index of users.
    package func numbers(ofUser user: String, hub: Int64) async throws -> [UInt32] {
        try await database.read { sql in
            try sql.rows(
                "SELECT number FROM installation WHERE hub = ? AND \"user\" = ? ORDER BY number", hub, user.lowercased()
            ).map { try $0["number"] }
        }
    }

    /// Deletes those of one hub, by the index of expirations.
    package func deleteExpired(
        before instant: Timestamp, limit: Int, committed: @escaping Committed
    ) async throws -> Bool {
        let hub: Int64? = try await database.read { sql in
            try sql.row("SELECT hub FROM installation WHERE expires_at < ? LIMIT 1", instant)?["hub"]
        }
        guard let hub else { return false }
        return try await change(hub: hub, committed) { sql, changes in
            let rows = try sql.rows(
                "SELECT * FROM installation WHERE expires_at < ? AND hub = ? LIMIT ?", instant, hub, limit)
            for row in rows {
                try InstallationRows.delete(try row["number"], sql)
                guard let old = try StoredInstallation(row) else { continue }
                changes.append(AudienceChange(hub: hub, before: old.entry, after: nil))
            }
            return !rows.isEmpty
        }
    }
}
