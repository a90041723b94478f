import Foundation
import GRDB
import HubProtocol
import PushCore

extension HubDatabase {
    /// Reads the columns by which audiences are selected, not the documents.
    package func audience(of hub: Int64, _ body: @escaping @Sendable (AudienceEntry?) -> Void) async throws -> Int64 {
        try await pool.writeWithoutTransaction { database in
            // Changes by another process after this point are read again later.
            let generation = try Int64.fetchOne(
                database, sql: "SELECT generation FROM hub WHERE number = ?", arguments: [hub])
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT number, platform, tags, template_tags, locale, country, app_version, time_zone, user, id,
                        MAX(updated_at, COALESCE(seen_at, 0)) AS seen, substr(channel, 1, length(id) + 1) = id || ' ' AS is_registration
                    FROM installation WHERE hub = ? AND channel IS NOT NULL AND fault IS NULL ORDER BY number
                    """, arguments: [hub])
            while let row = try rows.next() {
                if let entry = AudienceEntry(row) { body(entry) }
            }
            body(nil)
            return generation ?? 0
        }
    }

    /// Writes the document and its columns.
    package func put(
        _ installation: Installation, hub: Int64, condition: EntityCondition, registersChannel: Bool,
        at now: Timestamp, admission: @escaping Admission, committed: @escaping Committed
    ) async throws -> (StoredInstallation, isNew: Bool)? {
        try await change(committed) { database, changes -> (StoredInstallation, isNew: Bool)?? in
            let old = try InstallationRows.one(database, hub: hub, id: installation.foldedID)
            guard condition.holds(old?.version) else { return .some(nil) }
            let keeps = registersChannel ? nil : old
            var stored = StoredInstallation(
                number: old?.number ?? 0, installation: installation, version: (old?.version ?? 0) + 1,
                createdAt: old?.createdAt ?? now, updatedAt: now, fault: keeps?.fault)
            let document = InstallationJSON.document(installation).json
            let after = HubPut.Side(entry: stored.entry, bytes: document.utf8.count)
            try admission(try Self.judged(hub, old: old, after: after, database: database))
            if keeps == nil {
                try InstallationRows.takeChannel(of: installation, hub: hub, at: now, database, &changes)
            }
            if old == nil {
                try database.cachedStatement(sql: InstallationRows.inserting).execute(
                    arguments: InstallationRows.values(stored, document) + [hub, installation.foldedID, now.rawValue])
                guard let number = UInt32(exactly: database.lastInsertedRowID) else {
                    throw DatabaseError(
                        resultCode: .SQLITE_FULL, message: "there are no numbers left for installations")
                }
                stored.number = number
            } else {
                try database.cachedStatement(sql: keeps == nil ? InstallationRows.updating : InstallationRows.patching)
                    .execute(
                        arguments: InstallationRows.values(stored, document) + [Int64(stored.number)])
            }
            changes.append(AudienceChange(hub: hub, before: old?.entry, after: stored.entry))
            return .some((stored, old == nil))
        }.flatMap { $0 }
    }

    /// The put as quotas judge it. The counts of the hub stand in its row.
    private static func judged(
        _ hub: Int64, old: StoredInstallation?, after: HubPut.Side, database: Database
    ) throws -> HubPut {
        let counts = try Row.fetchOne(
            database.cachedStatement(sql: "SELECT installations, document_bytes FROM hub WHERE number = ?"),
            arguments: [hub])
        let before = try old.map { old in
            let bytes = try Int.fetchOne(
                database.cachedStatement(sql: "SELECT \(HubSchema.documentBytes) FROM installation WHERE number = ?"),
                arguments: [Int64(old.number)])
            return HubPut.Side(entry: old.entry, bytes: bytes ?? 0)
        }
        return HubPut(
            installations: counts?["installations"] ?? 0, documentBytes: counts?["document_bytes"] ?? 0,
            before: before, after: after)
    }

    /// Finds the installation by its lowercased id.
    package func installation(_ id: String, hub: Int64) async throws -> StoredInstallation? {
        try await pool.read { try InstallationRows.one($0, hub: hub, id: id.lowercased()) }
    }

    /// Deletes the row; its number is never used again.
    package func delete(
        _ id: String, hub: Int64, condition: EntityCondition, committed: @escaping Committed
    ) async throws -> Bool? {
        try await change(committed) { database, changes -> Bool?? in
            guard let old = try InstallationRows.one(database, hub: hub, id: id.lowercased()) else { return .some(nil) }
            guard condition.holds(old.version) else { return .some(false) }
            try InstallationRows.delete(Int64(old.number), database)
            changes.append(AudienceChange(hub: hub, before: old.entry, after: nil))
            return .some(true)
        }.flatMap { $0 }
    }

    /// Reads one row for each number.
    package func installations(_ numbers: [UInt32], hub: Int64) async throws -> [StoredInstallation] {
        guard !numbers.isEmpty else { return [] }
        return try await pool.read { database in
            let statement = try database.cachedStatement(
                sql: "SELECT * FROM installation WHERE number = ? AND hub = ?")
            return try numbers.compactMap { try statement.fetchOne(arguments: [Int64($0), hub]) }
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
        return try await pool.read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT * FROM installation WHERE hub = ? AND number > ? \(state) ORDER BY number LIMIT ?",
                arguments: [hub, Int64(number), limit]
            ).compactMap(StoredInstallation.init)
        }
    }

    /// Finds the installation with the channel now, in any spelling.
    package func installations(hub: Int64, channel: String) async throws -> [StoredInstallation] {
        try await pool.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM installation WHERE hub = ?1 AND channel IN (?2, ?3)
                    UNION ALL
                    SELECT * FROM installation
                    WHERE hub = ?1 AND \(HubSchema.handle) IN (?2, ?3) AND instr(channel, ' ') > 0
                        AND channel NOT IN (?2, ?3)
                    ORDER BY number LIMIT 1000
                    """, arguments: [hub, channel, HubPlatform.apns.spelling(ofChannel: channel)]
            ).compactMap(StoredInstallation.init).filter { found in
                found.installation.channelHandle == found.installation.platform.spelling(ofChannel: channel)
            }
        }
    }

    /// Finds each by the index of channels, and by that of registrations.
    package func earlierOwners(
        of registrations: [StoredInstallation], hub: Int64, at now: Timestamp
    ) async throws -> [UInt32: [UInt32]] {
        guard !registrations.isEmpty else { return [:] }
        return try await pool.read { database in
            let statement = try database.cachedStatement(sql: Self.earlier)
            var found: [UInt32: [UInt32]] = [:]
            for registration in registrations {
                guard let channel = registration.installation.channelHandle else { continue }
                let numbers = try Int64.fetchAll(
                    statement, arguments: [hub, channel, Int64(registration.number), now.rawValue])
                if !numbers.isEmpty { found[registration.number] = numbers.compactMap { UInt32(exactly: $0) } }
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
            ORDER BY number LIMIT 1000)
        """

    /// Reads numbers by the index of users.
    package func numbers(ofUser user: String, hub: Int64) async throws -> [UInt32] {
        try await pool.read { database in
            try Int64.fetchAll(
                database, sql: "SELECT number FROM installation WHERE hub = ? AND user = ? ORDER BY number",
                arguments: [hub, user.lowercased()]
            ).compactMap { UInt32(exactly: $0) }
        }
    }

    /// Deletes by the index of expirations.
    package func deleteExpired(
        before instant: Timestamp, limit: Int, committed: @escaping Committed
    ) async throws -> Bool {
        try await change(committed) { database, changes in
            let rows = try Row.fetchAll(
                database, sql: "SELECT * FROM installation WHERE expires_at < ? LIMIT ?",
                arguments: [instant.rawValue, limit])
            for row in rows {
                try InstallationRows.delete(row["number"], database)
                guard let old = StoredInstallation(row) else { continue }
                changes.append(AudienceChange(hub: row["hub"], before: old.entry, after: nil))
            }
            return rows.count == limit
        }
    }
}

extension HubDatabase {
    /// Lets the writer cache 256 MiB of pages, and copy its log into the file only at 400 MiB, until it is closed: the
    /// rows of an import change pages everywhere in the indexes.
    package func prepareImport() async throws {
        try await pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA cache_size = -262144; PRAGMA wal_autocheckpoint = 100000")
        }
    }

    /// Stores many installations in one transaction, as single puts would: a later one with the same id, or channel,
    /// replaces an earlier one.
    ///
    /// The hub's generation rises, so that a server with the hub's audiences in memory reads them again.
    ///
    /// - Returns: The number of new installations.
    package func importAll(_ installations: [ReadInstallation], hub: Int64, at now: Timestamp) async throws -> Int {
        try await pool.write { database in
            let takeOver = try ImportStatement(
                """
                UPDATE installation SET channel = NULL, fault = 'TakenOver', fault_at = ?, version = version + 1
                WHERE hub = ? AND channel = ? AND id <> ?
                """, on: database)
            let upsert = try ImportStatement(Self.upserting, on: database)
            upsert.bind(now.rawValue, at: 12)
            upsert.bind(hub, at: 14)
            upsert.bind(now.rawValue, at: 16)
            takeOver.bind(now.rawValue, at: 1)
            takeOver.bind(hub, at: 2)
            var added = 0
            for read in installations {
                let id = read.installation.foldedID
                let channel = read.installation.channelKey
                Self.bind(read, id: id, channel: channel, to: upsert)
                var outcome = try upsert.run()
                if case .conflict = outcome {
                    // Another installation has the channel, and loses it.
                    takeOver.bind(channel, at: 3)
                    takeOver.bind(id, at: 4)
                    _ = try takeOver.run()
                    outcome = try upsert.run()
                }
                guard case .done(let isNew) = outcome else { throw DatabaseError(resultCode: .SQLITE_CONSTRAINT) }
                if isNew { added += 1 }
            }
            try database.execute(sql: "UPDATE hub SET generation = generation + 1 WHERE number = ?", arguments: [hub])
            return added
        }
    }

    /// Binds the values that differ from row to row, in the order of ``inserting``.
    private static func bind(
        _ read: ReadInstallation, id: String, channel: String?, to upsert: borrowing ImportStatement
    ) {
        let installation = read.installation
        upsert.bind(installation.userID?.lowercased(), at: 1)
        upsert.bind(channel, at: 2)
        upsert.bind(read.document, at: 3)
        upsert.bind(installation.platform.rawValue, at: 4)
        upsert.bind(installation.tags.map(\.text).joined(separator: " "), at: 5)
        upsert.bind(InstallationRows.templateTags(installation), at: 6)
        upsert.bind(installation.locale?.lowercased(), at: 7)
        upsert.bind(installation.country?.lowercased(), at: 8)
        upsert.bind(installation.appVersion, at: 9)
        upsert.bind(installation.timeZone, at: 10)
        upsert.bind(1, at: 11)
        upsert.bind(installation.expiresAt?.rawValue, at: 13)
        upsert.bind(id, at: 15)
    }

    private static let upserting = """
        \(InstallationRows.inserting)
        ON CONFLICT (hub, id) DO UPDATE SET
            user = excluded.user, channel = excluded.channel, document = excluded.document,
            platform = excluded.platform, tags = excluded.tags, template_tags = excluded.template_tags,
            locale = excluded.locale, country = excluded.country, app_version = excluded.app_version,
            time_zone = excluded.time_zone, version = version + 1, updated_at = excluded.updated_at,
            expires_at = excluded.expires_at, fault = NULL, fault_at = NULL, registered_at = NULL,
            channel_moment = CASE WHEN channel IS excluded.channel THEN channel_moment ELSE
                \(InstallationRows.moment) END
        """
}

/// The removal of a person from the store.
extension HubDatabase {
    /// Marks the channels as dead without an event for the webhook.
    package func retire(
        _ installations: [StoredInstallation], hub: Int64, at now: Timestamp, committed: @escaping Committed
    ) async throws {
        try await change(committed) { database, changes in
            for installation in installations {
                guard let old = try InstallationRows.one(database, hub: hub, id: installation.installation.foldedID),
                    old.fault == nil
                else { continue }
                try database.execute(
                    sql:
                        "UPDATE installation SET fault = 'Erased', fault_at = ?, version = version + 1 WHERE number = ?",
                    arguments: [now.rawValue, Int64(old.number)])
                changes.append(AudienceChange(hub: hub, before: old.entry, after: nil))
            }
        }
    }

    /// Deletes the row, the names in rows of sends, and, by their index, the events that name it.
    package func erase(_ id: String, hub: Int64, committed: @escaping Committed) async throws -> Int? {
        try await change(committed) { database, changes -> Int? in
            guard let old = try InstallationRows.one(database, hub: hub, id: id.lowercased()) else { return nil }
            // The outcomes of a person's notifications are not looked up any more.
            try database.execute(
                sql: """
                    UPDATE send_recipient SET ending = 'ended', looked_up_at = NULL
                    WHERE installation = ? AND ending IN ('waiting', 'delivered', 'presented')
                    """, arguments: [Int64(old.number)])
            try InstallationRows.delete(Int64(old.number), database)
            try Self.rename(old.installation, hub: hub, database)
            try Self.eraseChannel(of: old.installation, hub: hub, database)
            try database.execute(sql: Self.erasingEvents, arguments: [hub, old.installation.foldedID])
            let count = database.changesCount
            changes.append(AudienceChange(hub: hub, before: old.entry, after: nil))
            return count
        }
    }

    static let erasingEvents = """
        DELETE FROM hub_event WHERE hub = ? AND kind = 'channel.dead' AND lower(data ->> '$.installationId') = ?
        """

    /// Replaces the names of the person and the installation in the expressions of sends by an unused name. An
    /// expression stays valid, and matches the same other installations.
    private static func rename(_ installation: Installation, hub: Int64, _ database: Database) throws {
        let nobody = "erased-" + String(UInt64.random(in: .min ... .max), radix: 16)
        for (name, value) in [("$UserId:{", installation.userID), ("$InstallationId:{", installation.id)] {
            guard let value else { continue }
            let term = "\(name)\(value)}".lowercased()
            let rows = try Row.fetchAll(
                database, sql: "SELECT number, expression FROM send WHERE hub = ? AND instr(lower(expression), ?) > 0",
                arguments: [hub, term])
            for row in rows {
                let expression = (row["expression"] as String).replacingOccurrences(
                    of: term, with: "\(name)\(nobody)}", options: [.caseInsensitive, .literal])
                try database.execute(
                    sql: "UPDATE send SET expression = ? WHERE number = ?",
                    arguments: [expression, row["number"] as Int64])
            }
        }
    }

    /// Removes the channel, and a browser's keys, from ended sends to named channels. An unreadable row may contain the
    /// channel too, and is cleared entirely.
    private static func eraseChannel(of installation: Installation, hub: Int64, _ database: Database) throws {
        guard let channel = installation.channel?.key, let handle = installation.channelHandle else { return }
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT number, channels, headers FROM send
                WHERE hub = ? AND ended_at IS NOT NULL AND channels IS NOT NULL
                """, arguments: [hub])
        for row in rows {
            let items = (try? JSONValue(text: row["channels"]))?.items?.map(\.text)
            let isTheirs = items?.map { $0.map(installation.platform.spelling(ofChannel:)) == handle }
            guard isTheirs?.contains(true) ?? true else { continue }
            let left = zip(items ?? [], isTheirs ?? []).map { JSONValue.string($1 ? "" : $0 ?? "") }
            let headers = (try? JSONValue(text: row["headers"]))?.members?.filter {
                $0.name != "p256dh" && $0.name != "auth"
            }
            let number: Int64 = row["number"]
            try database.execute(
                sql: "UPDATE send SET channels = ?, headers = ? WHERE number = ?",
                arguments: [
                    JSONValue.array(left).json, JSONValue.object(headers ?? []).json, number,
                ])
            for table in ["send_recipient", "send_fault"] {
                try database.execute(
                    sql: "UPDATE \(table) SET name = '' WHERE send = ? AND name IN (?, ?)",
                    arguments: [number, channel, handle])
            }
        }
    }
}
