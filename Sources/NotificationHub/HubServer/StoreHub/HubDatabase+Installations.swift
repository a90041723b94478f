import HubProtocol
import PushCore
import PushServer
import SQLiteStore

/// An error: a database has given each of the four thousand million numbers of installations. None is used again.
struct NumbersExhausted: Error, CustomStringConvertible {
    var description: String { "there are no numbers left for installations" }
}

extension HubDatabase {
    /// Writes the document and its columns.
    package func put(
        _ installation: HubProtocol.Installation, hub: Int64, condition: EntityCondition, registersChannel: Bool,
        at now: Timestamp, admission: @escaping Admission, committed: @escaping Committed
    ) async throws -> (StoredInstallation, isNew: Bool)? {
        try await change(hub: hub, committed) { sql, changes -> (StoredInstallation, isNew: Bool)? in
            let row = try InstallationRows.row(sql, hub: hub, id: installation.foldedID)
            let old = try row.flatMap { try StoredInstallation($0) }
            guard condition.matches(old?.version) else { return nil }
            let keeps = registersChannel ? nil : old
            var stored = StoredInstallation(
                number: old?.number ?? 0, installation: installation, version: (old?.version ?? 0) + 1,
                createdAt: old?.createdAt ?? now, updatedAt: now, fault: keeps?.fault)
            let document = InstallationJSON.document(installation).json
            let before = try old.map { old in
                InstallationWrite.Side(entry: old.entry, bytes: try (row?["document"] as String?)?.utf8.count ?? 0)
            }
            let after = InstallationWrite.Side(entry: stored.entry, bytes: document.utf8.count)
            try admission(try Self.judged(hub, before: before, after: after, sql))
            if keeps == nil {
                try InstallationRows.takeChannel(of: installation, hub: hub, at: now, sql, &changes)
            }
            let values = InstallationRows.values(stored, document)
            if old == nil {
                let more = [hub.parameter, installation.foldedID.parameter, now.parameter]
                let added = try sql.execute("\(InstallationRows.inserting) RETURNING number", values + more).rows.first
                let number: Int64? = try added?["number"]
                guard let number = number.flatMap({ UInt32(exactly: $0) }) else { throw NumbersExhausted() }
                stored.number = number
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
        _ hub: Int64, before: InstallationWrite.Side?, after: InstallationWrite.Side, _ sql: any SQLConnection
    ) throws -> InstallationWrite {
        let counts = try sql.row("SELECT installations, document_bytes, version FROM hub WHERE number = ?", hub)
        return InstallationWrite(
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
            guard condition.matches(old.version) else { return false }
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

    /// Without the sign, SQLite takes an index of hubs.
    static let expired = "SELECT * FROM installation WHERE expires_at < ? AND +hub = ? LIMIT ?"

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
                Self.expired, instant, hub, limit)
            for row in rows {
                try InstallationRows.delete(try row["number"], sql)
                guard let old = try StoredInstallation(row) else { continue }
                changes.append(AudienceChange(hub: hub, before: old.entry, after: nil))
            }
            return !rows.isEmpty
        }
    }
}

/// The removal of a person from the store.
extension HubDatabase {
    /// Marks the channels as dead without an event for the webhook.
    package func retire(
        _ installations: [StoredInstallation], hub: Int64, at now: Timestamp, committed: @escaping Committed
    ) async throws {
        try await change(hub: hub, committed) { sql, changes in
            for installation in installations {
                guard let old = try InstallationRows.one(sql, hub: hub, id: installation.installation.foldedID),
                    old.fault == nil
                else { continue }
                try sql.run(
                    "UPDATE installation SET fault = 'Erased', fault_at = ?, version = version + 1 WHERE number = ?",
                    now,
                    old.number)
                changes.append(AudienceChange(hub: hub, before: old.entry, after: nil))
            }
        }
    }

    /// Deletes the row, the names in rows of sends, and, by their index, the events that name it.
    package func erase(_ id: String, hub: Int64, committed: @escaping Committed) async throws -> Int? {
        try await change(hub: hub, committed) { sql, changes -> Int? in
            guard let old = try InstallationRows.one(sql, hub: hub, id: id.lowercased()) else { return nil }
            // The outcomes of a person's notifications are not looked up any more.
            try sql.run(
                """
                UPDATE send_recipient SET ending = 'ended', looked_up_at = NULL
                WHERE installation = ? AND ending IN ('waiting', 'delivered', 'presented')
                """, old.number)
            try InstallationRows.delete(old.number, sql)
            try ErasureRows.rename(old.installation, hub: hub, sql)
            try ErasureRows.eraseChannel(of: old.installation, hub: hub, sql)
            // The log has what the person's installations were found by. Servers that have not read it read all installations.
            try sql.run("DELETE FROM audience_change WHERE hub = ?", hub)
            changes.append(AudienceChange(hub: hub, before: old.entry, after: nil))
            return try sql.run(
                "DELETE FROM hub_event WHERE \(Self.namesInstallation(sql))", hub, old.installation.foldedID)
        }
    }
}

/// Imports.
extension HubDatabase {
    /// Lets the writer of a file cache 256 MiB of pages, and copy its log into the file only at 400 MiB, until it is closed: the
    /// rows of an import change pages everywhere in the indexes.
    package func prepareImport() async throws {
        guard let file = database as? SQLiteDatabase else { return }
        try await file.pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA cache_size = -262144; PRAGMA wal_autocheckpoint = 100000")
        }
    }

    /// Stores many installations, as single puts would, in one transaction where no other server uses the database: a later one with the same id, or channel,
    /// replaces an earlier one.
    ///
    /// The hub's generation rises, so that a server with the hub's audiences in memory reads them again.
    ///
    /// - Returns: The number of new installations.
    package func importAll(_ installations: [ReadInstallation], hub: Int64, at now: Timestamp) async throws -> Int {
        // Requests of other servers wait for one transaction only.
        let size = isShared ? Self.sharedSlice : max(1, installations.count)
        var added = 0
        for start in stride(from: 0, to: installations.count, by: size) {
            added += try await importOnce(
                Array(installations[start..<min(start + size, installations.count)]), hub: hub, at: now)
        }
        return added
    }

    /// The installations that are imported in one transaction where other servers use the database.
    private static let sharedSlice = 2000

    private func importOnce(_ installations: [ReadInstallation], hub: Int64, at now: Timestamp) async throws -> Int {
        try await database.write { sql in
            try Self.lock(hub: hub, sql)
            let added: Int
            if let file = sql as? SQLiteConnection {
                added = try FileImport.run(installations, hub: hub, at: now, file.database)
            } else {
                added = try SharedImport.run(installations, hub: hub, at: now, sql)
            }
            try sql.run("UPDATE hub SET generation = generation + 1 WHERE number = ?", hub)
            return added
        }
    }
}
