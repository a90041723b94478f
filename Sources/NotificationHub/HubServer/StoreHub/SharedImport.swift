import HubProtocol
import PushCore
import PushServer

/// An import into a database that several servers use, some hundred statements at a time.
enum SharedImport {
    /// The installations whose statements are sent together.
    private static let slice = 500

    /// The installations and bytes that an import adds to the counts of a hub.
    private struct Growth {
        var installations = 0
        var bytes = 0
    }

    /// Stores installations in a transaction.
    ///
    /// - Returns: The number of new ones.
    static func run(
        _ installations: [ReadInstallation], hub: Int64, at now: Timestamp, _ sql: any SQLConnection
    ) throws -> Int {
        // The hub's row is changed once, and not for each installation.
        _ = try sql.rows("SELECT set_config('aldaba.imports', 'on', true) AS value")
        var growth = Growth()
        var reads: [ReadInstallation] = []
        // What the statements of a slice change has to be different.
        var names: Set<String> = []
        for read in installations {
            let channel = read.installation.channelKey.map { "channel \($0)" }
            let own = [read.installation.foldedID, channel].compactMap(\.self)
            if reads.count == slice || own.contains(where: names.contains) {
                try importSlice(reads, hub: hub, at: now, growth: &growth, sql)
                reads.removeAll()
                names.removeAll()
            }
            reads.append(read)
            names.formUnion(own)
        }
        try importSlice(reads, hub: hub, at: now, growth: &growth, sql)
        try sql.run(
            "UPDATE hub SET installations = installations + ?, document_bytes = document_bytes + ? WHERE number = ?",
            growth.installations, growth.bytes, hub)
        return growth.installations
    }

    private static func importSlice(
        _ reads: [ReadInstallation], hub: Int64, at now: Timestamp, growth: inout Growth, _ sql: any SQLConnection
    ) throws {
        _ = try sql.execute(
            """
            UPDATE installation SET channel = NULL, fault = 'TakenOver', fault_at = ?, version = version + 1
            WHERE hub = ? AND channel = ? AND id <> ?
            """,
            each: reads.map { read in
                [
                    now.parameter, hub.parameter, read.installation.channelKey.parameter,
                    read.installation.foldedID.parameter,
                ]
            })
        let known = try sql.execute(
            "SELECT octet_length(document) AS bytes FROM installation WHERE hub = ? AND id = ?",
            each: reads.map { [hub.parameter, $0.installation.foldedID.parameter] })
        var (old, new): ([[SQLParameter]], [[SQLParameter]]) = ([], [])
        for (read, result) in zip(reads, known) {
            let row = parameters(read, hub: hub, at: now)
            growth.bytes += read.document.utf8.count
            if let found = result.rows.first {
                old.append(row)
                growth.bytes -= try found["bytes"]
            } else {
                new.append(row)
            }
        }
        growth.installations += new.count
        _ = try sql.execute(updating, each: old)
        _ = try sql.execute(InstallationRows.inserting, each: new)
    }

    private static func parameters(_ read: ReadInstallation, hub: Int64, at now: Timestamp) -> [SQLParameter] {
        let stored = StoredInstallation(
            number: 0, installation: read.installation, version: 1, createdAt: now, updatedAt: now, fault: nil)
        return InstallationRows.values(stored, read.document)
            + [hub.parameter, read.installation.foldedID.parameter, now.parameter]
    }

    /// The last parameter is that of an insertion, so that both statements have the same ones.
    private static let updating = """
        UPDATE installation SET
            "user" = ?1, channel = ?2, document = ?3, platform = ?4, tags = ?5, template_tags = ?6, locale = ?7,
            country = ?8, app_version = ?9, time_zone = ?10, version = version + ?11, updated_at = ?12, expires_at = ?13,
            fault = NULL, fault_at = NULL, registered_at = NULL,
            channel_moment = CASE WHEN channel IS NOT DISTINCT FROM ?2 THEN channel_moment ELSE
                \(InstallationRows.moment) END
        WHERE hub = ?14 AND id = ?15 AND ?16 = ?16
        """
}
