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
            let old = try Self.one(database, hub: hub, id: installation.foldedID)
            guard condition.holds(old?.version) else { return .some(nil) }
            let keeps = registersChannel ? nil : old
            var stored = StoredInstallation(
                number: old?.number ?? 0, installation: installation, version: (old?.version ?? 0) + 1,
                createdAt: old?.createdAt ?? now, updatedAt: now, fault: keeps?.fault)
            let document = InstallationJSON.document(installation).json
            let after = HubPut.Side(entry: stored.entry, bytes: document.utf8.count)
            try admission(try Self.judged(hub, old: old, after: after, database: database))
            if keeps == nil { try Self.takeChannel(of: installation, hub: hub, at: now, database, &changes) }
            if old == nil {
                try database.cachedStatement(sql: Self.inserting).execute(
                    arguments: Self.values(stored, document) + [hub, installation.foldedID, now.rawValue])
                guard let number = UInt32(exactly: database.lastInsertedRowID) else {
                    throw DatabaseError(
                        resultCode: .SQLITE_FULL, message: "there are no numbers left for installations")
                }
                stored.number = number
            } else {
                try database.cachedStatement(sql: keeps == nil ? Self.updating : Self.patching).execute(
                    arguments: Self.values(stored, document) + [Int64(stored.number)])
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

    /// The values of the columns that every put writes.
    private static func values(_ stored: StoredInstallation, _ document: String) -> StatementArguments {
        let installation = stored.installation
        return [
            installation.userID?.lowercased(), installation.channelKey, document,
            installation.platform.rawValue, installation.tags.map(\.text).joined(separator: " "),
            templateTags(installation),
            installation.locale?.lowercased(), installation.country?.lowercased(), installation.appVersion,
            installation.timeZone, stored.version, stored.updatedAt.rawValue, installation.expiresAt?.rawValue,
        ]
    }

    /// The tags of the templates and their names; `nil` where there is no template.
    static func templateTags(_ installation: Installation) -> String? {
        guard !installation.templates.isEmpty else { return nil }
        let tags = installation.templates.flatMap { $0.tags + [TagName($0.name)].compactMap { $0 } }
        return Set(tags).map(\.text).joined(separator: " ")
    }

    static let inserting = """
        INSERT INTO installation(
            user, channel, document, platform, tags, template_tags, locale, country, app_version, time_zone, version, updated_at,
            expires_at, hub, id, created_at
        ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    /// An expression for the moment of a row's hub.
    static let moment = "(SELECT moment FROM hub WHERE hub.number = installation.hub)"

    private static let updating = """
        UPDATE installation SET
            user = ?, channel = ?, document = ?, platform = ?, tags = ?, template_tags = ?, locale = ?, country = ?,
            app_version = ?, time_zone = ?, version = ?, updated_at = ?, expires_at = ?, fault = NULL, fault_at = NULL,
            registered_at = NULL, channel_moment = CASE WHEN channel IS ?2 THEN channel_moment ELSE \(moment) END
        WHERE number = ?
        """

    /// Updates all columns except the channel and its state.
    private static let patching = """
        UPDATE installation SET
            user = ?1, document = ?3, platform = ?4, tags = ?5, template_tags = ?6, locale = ?7, country = ?8,
            app_version = ?9, time_zone = ?10, version = ?11, expires_at = ?13,
            registered_at = COALESCE(registered_at, updated_at), updated_at = ?12
        WHERE number = ?14
        """

    /// Marks the other installations with the channel: a channel belongs to the installation that registered it last.
    private static func takeChannel(
        of installation: Installation, hub: Int64, at now: Timestamp, _ database: Database,
        _ changes: inout [AudienceChange]
    ) throws {
        guard let channel = installation.channelKey,
            let row = try Row.fetchOne(
                database,
                sql: "SELECT * FROM installation WHERE hub = ? AND channel = ? AND id <> ?",
                arguments: [hub, channel, installation.foldedID]), let other = StoredInstallation(row)
        else { return }
        try mark(
            other, hub: hub, fault: ChannelFault(word: "TakenOver", at: now), database: database, changes: &changes)
    }

    /// Marks an installation's channel as dead; no expression matches it any more.
    static func mark(
        _ stored: StoredInstallation, hub: Int64, fault: ChannelFault, database: Database,
        changes: inout [AudienceChange]
    ) throws {
        try database.execute(
            sql: """
                UPDATE installation SET channel = NULL, fault = ?, fault_at = ?, version = version + 1 WHERE number = ?
                """, arguments: [fault.word, fault.at.rawValue, Int64(stored.number)])
        changes.append(AudienceChange(hub: hub, before: stored.entry, after: nil))
        try tell(
            .channelDead,
            data: [
                .init("installationId", .string(stored.installation.id)),
                .init("platform", .string(stored.installation.platform.text)), .init("word", .string(fault.word)),
            ], hub: hub, at: fault.at, database: database)
    }

    static func one(_ database: Database, hub: Int64, id: String) throws -> StoredInstallation? {
        try database.cachedStatement(sql: "SELECT * FROM installation WHERE hub = ? AND id = ?")
            .fetchOne(arguments: [hub, id])
    }

    /// Finds the installation by its lowercased id.
    package func installation(_ id: String, hub: Int64) async throws -> StoredInstallation? {
        try await pool.read { try Self.one($0, hub: hub, id: id.lowercased()) }
    }

    /// Deletes the row; its number is never used again.
    package func delete(
        _ id: String, hub: Int64, condition: EntityCondition, committed: @escaping Committed
    ) async throws -> Bool? {
        try await change(committed) { database, changes -> Bool?? in
            guard let old = try Self.one(database, hub: hub, id: id.lowercased()) else { return .some(nil) }
            guard condition.holds(old.version) else { return .some(false) }
            try Self.delete(Int64(old.number), database)
            changes.append(AudienceChange(hub: hub, before: old.entry, after: nil))
            return .some(true)
        }.flatMap { $0 }
    }

    /// Deletes an installation and its identity in rows of sends; the outcomes of its notifications are still recorded.
    static func delete(_ number: Int64, _ database: Database) throws {
        try database.execute(sql: "DELETE FROM send_fault WHERE installation = ?", arguments: [number])
        // The counts of a report remain, without the identity.
        try database.execute(
            sql: """
                UPDATE send_recipient SET name = '', locale = NULL, retry_at = NULL,
                    ending = CASE WHEN retry_at IS NULL THEN ending ELSE 'ineligible' END
                WHERE installation = ?
                """, arguments: [number])
        try database.execute(sql: "DELETE FROM installation WHERE number = ?", arguments: [number])
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
                try Self.delete(row["number"], database)
                guard let old = StoredInstallation(row) else { continue }
                changes.append(AudienceChange(hub: row["hub"], before: old.entry, after: nil))
            }
            return rows.count == limit
        }
    }
}

extension Statement {
    fileprivate func fetchOne(arguments: StatementArguments) throws -> StoredInstallation? {
        try Row.fetchOne(self, arguments: arguments).flatMap(StoredInstallation.init)
    }
}

extension StoredInstallation {
    /// Creates the installation from a row; `nil` for one with an unreadable document, which no put has written.
    init?(_ row: Row) {
        guard let number = UInt32(exactly: row["number"] as Int64),
            let tree = try? JSONTree(text: row["document"]),
            let installation = try? InstallationJSON.read(tree, id: nil)
        else { return nil }
        let word: String? = row["fault"]
        let at: Int64? = row["fault_at"]
        self.init(
            number: number, installation: installation, version: row["version"],
            createdAt: Timestamp(rawValue: row["created_at"]), updatedAt: Timestamp(rawValue: row["updated_at"]),
            fault: word.map { ChannelFault(word: $0, at: Timestamp(rawValue: at ?? 0)) },
            seenAt: (row["seen_at"] as Int64?).map { Timestamp(rawValue: $0) })
    }
}

extension AudienceEntry {
    init?(_ row: Row) {
        guard let number = UInt32(exactly: row["number"] as Int64),
            let platform = HubPlatform(rawValue: row["platform"])
        else { return nil }
        func tags(_ text: String?) -> [TagName] {
            text?.split(separator: " ").compactMap { TagName(String($0)) } ?? []
        }
        let templateTags: String? = row["template_tags"]
        let user: String? = row["user"]
        self.init(
            number: number, platform: platform, tags: tags(row["tags"]), templateTags: tags(templateTags),
            hasTemplates: templateTags != nil, locale: row["locale"], country: row["country"],
            appVersion: row["app_version"], timeZone: row["time_zone"],
            person: PersonNumber(user ?? row["id"]), isRegistration: row["is_registration"],
            seenAt: Timestamp(rawValue: row["seen"]))
    }
}
