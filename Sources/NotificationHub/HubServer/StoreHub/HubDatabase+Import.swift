import HubProtocol
import PushCore
import PushServer
import SQLiteStore

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
                added = try Self.importEach(installations, hub: hub, at: now, sql)
            }
            try sql.run("UPDATE hub SET generation = generation + 1 WHERE number = ?", hub)
            return added
        }
    }

    /// The installations whose statements are sent together.
    private static let slice = 500

    private static func importEach(
        _ installations: [ReadInstallation], hub: Int64, at now: Timestamp, _ sql: any SQLConnection
    ) throws -> Int {
        _ = try sql.rows("SELECT set_config('aldaba.imports', 'on', true) AS value")
        var added = 0
        var reads: [ReadInstallation] = []
        // What the statements of a slice change has to be different.
        var names: Set<String> = []
        for read in installations {
            let own = [read.installation.foldedID, read.installation.channelKey.map { "channel \($0)" }].compactMap(
                \.self)
            if reads.count == slice || own.contains(where: names.contains) {
                added += try importSlice(reads, hub: hub, at: now, sql)
                reads.removeAll()
                names.removeAll()
            }
            reads.append(read)
            names.formUnion(own)
        }
        added += try importSlice(reads, hub: hub, at: now, sql)
        try sql.run(
            """
            UPDATE hub SET (installations, document_bytes) = (
                SELECT count(*), coalesce(sum(octet_length(document)), 0)::bigint FROM installation WHERE hub = ?1)
            WHERE number = ?1
            """, hub)
        return added
    }

    private static func importSlice(
        _ reads: [ReadInstallation], hub: Int64, at now: Timestamp, _ sql: any SQLConnection
    ) throws -> Int {
        let rows = reads.map { read in
            let stored = StoredInstallation(
                number: 0, installation: read.installation, version: 1, createdAt: now, updatedAt: now, fault: nil)
            return InstallationRows.values(stored, read.document)
                + [hub.parameter, read.installation.foldedID.parameter, now.parameter]
        }
        _ = try sql.execute(
            """
            UPDATE installation SET channel = NULL, fault = 'TakenOver', fault_at = ?1, version = version + 1
            WHERE hub = ?2 AND channel = ?3 AND id <> ?4
            """,
            each: reads.map { read in
                [
                    now.parameter, hub.parameter, read.installation.channelKey.parameter,
                    read.installation.foldedID.parameter,
                ]
            })
        let updated = try sql.execute(importing, each: rows).map(\.changed)
        let new = zip(rows, updated).filter { $1 == 0 }.map(\.0)
        _ = try sql.execute(InstallationRows.inserting, each: new)
        return new.count
    }

    private static let importing = """
        UPDATE installation SET
            "user" = ?1, channel = ?2, document = ?3, platform = ?4, tags = ?5, template_tags = ?6, locale = ?7,
            country = ?8, app_version = ?9, time_zone = ?10, version = version + ?11, updated_at = ?12, expires_at = ?13,
            fault = NULL, fault_at = NULL, registered_at = NULL,
            channel_moment = CASE WHEN channel IS NOT DISTINCT FROM ?2 THEN channel_moment ELSE
                \(InstallationRows.moment) END
        WHERE hub = ?14 AND id = ?15 AND ?16 = ?16
        """
}
