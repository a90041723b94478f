import AgentProtocol
import PushCore

/// The files of all servers with the same database, and which servers have them. Every call blocks.
package struct MediaRegister: Sendable {
    /// A file, and the servers that have it.
    struct Located: Sendable {
        var file: MediaFile
        var nodes: [UInt16]
        /// The key of its object in the bucket; `nil` for a file that is in none.
        var object: String?
    }

    let database: any SQLDatabase
    private let node: UInt16
    /// Uses the tables of a database.
    ///
    /// - Parameter node: The number of this server.
    package init(in database: any SQLDatabase, node: UInt16) {
        self.database = database
        self.node = node
    }

    /// The row of the sums of all teams.
    private static let everyTeam = "*"

    // MARK: Files

    /// Records a file that this server has, or makes the team's file with the same bytes live longer.
    ///
    /// - Parameters:
    ///   - object: The key of the upload's object; `nil` where there is none.
    ///   - needsObject: Whether each new file has to have an object.
    /// - Returns: The file as it is recorded.
    /// - Throws: ``MediaRejection`` where the quotas do not allow it, or the file that had the object was deleted meanwhile.
    func add(
        _ file: MediaFile, object: String?, needsObject: Bool, _ settings: MediaStore.Settings
    ) throws -> MediaFile {
        try database.writeBlocking { sql in
            let all = try Self.lockedSum(Self.everyTeam, sql)
            // Of files that were brought together, several may have the same bytes.
            let known = try sql.row(
                """
                UPDATE file SET expires_at = greatest(expires_at, ?3), object = coalesce(object, ?4) WHERE name =
                    (SELECT name FROM file WHERE team = ?1 AND sha256 = ?2 ORDER BY object IS NULL, name LIMIT 1)
                RETURNING *
                """, file.teamText, file.digest, file.expires, object)
            if let known, let kept = try MediaFile(known) {
                let used: String? = try known["object"]
                if let object { try use(object, isUsed: used == object, sql) }
                return kept
            }
            guard object != nil || !needsObject else { throw MediaRejection.bucket }
            let team = try file.team.map { try Self.lockedSum($0.rawValue, sql) }
            try Self.check(file.bytes, team: team, all: all, settings)
            try insert(file, object: object, sql)
            if let object { try use(object, isUsed: true, sql) }
            return file
        }
    }

    /// Records files that this server has kept alone until now. Those that were deleted at another server are left out.
    ///
    /// - Returns: The names of files that the server does not keep any more.
    func adopt(_ files: [MediaFile]) throws -> [MediaName] {
        try database.writeBlocking { sql in
            _ = try Self.lockedSum(Self.everyTeam, sql)
            var gone: [MediaName] = []
            for file in files {
                if try sql.row("SELECT name FROM removed WHERE name = ?", file.name.description) != nil {
                    gone.append(file.name)
                } else if try !addCopy(of: file.name, sql) {
                    // Another server may have the same bytes under a name that is in use too.
                    try insert(file, object: nil, sql)
                }
            }
            return gone
        }
    }

    /// Records that this server has a file too.
    ///
    /// - Returns: Whether there is such a file.
    func addCopy(of name: MediaName) throws -> Bool { try database.writeBlocking { try addCopy(of: name, $0) } }

    /// Requires space for a file that is announced.
    func require(_ bytes: Int64, for team: TeamID?, _ settings: MediaStore.Settings) throws {
        try database.readBlocking { sql in
            let all = try Self.sum(Self.everyTeam, sql)
            let own = try team.map { try Self.sum($0.rawValue, sql) }
            try Self.check(bytes, team: own, all: all, settings)
        }
    }

    /// Reads a file; `nil` for one that was never recorded, or was deleted.
    func file(_ name: MediaName) async throws -> Located? {
        try await database.read { sql in
            guard let row = try sql.row("SELECT * FROM file WHERE name = ?", name.description),
                let file = try MediaFile(row)
            else { return nil }
            let nodes = try sql.rows("SELECT node FROM copy WHERE name = ?", name.description)
                .map { UInt16(truncatingIfNeeded: try $0["node"] as Int64) }
            return Located(file: file, nodes: nodes, object: try row["object"])
        }
    }

    /// The files in the order of their names, of one team or all, as ``MediaStore/list(team:after:limit:)`` has them.
    func list(team: TeamID?, after: MediaName?, limit: Int, at now: Timestamp) throws -> [MediaFile] {
        try database.readBlocking { sql in
            try sql.rows(
                """
                SELECT * FROM file WHERE name > ?1 AND expires_at > ?2 AND (?3 IS NULL OR team = ?3) ORDER BY name LIMIT ?4
                """, after?.description ?? "", now, team?.rawValue, limit
            ).compactMap { try MediaFile($0) }
        }
    }

    /// Deletes a file of a team, or of any.
    ///
    /// - Returns: The file, and the key of its object, which is still to be deleted.
    func remove(_ name: MediaName, team: TeamID?) throws -> (file: MediaFile, object: String?)? {
        try database.writeBlocking { sql in
            _ = try Self.lockedSum(Self.everyTeam, sql)
            let row = try sql.row(
                "DELETE FROM file WHERE name = ?1 AND (?2 IS NULL OR team = ?2) RETURNING *", name.description,
                team?.rawValue)
            guard let row, let file = try MediaFile(row) else { return nil }
            let object = try delete(file, row: row, sql)
            try sql.run(
                "INSERT INTO removed(name, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING", name.description,
                file.expires)
            return (file, object)
        }
    }

    // MARK: Sweeps

    /// Deletes the rows of expired files, and reads which files others have deleted.
    ///
    /// - Parameter last: The number of the last deletion that is known.
    /// - Returns: The names that were deleted since, and the number of the last.
    func sweep(after last: Int64, at now: Timestamp) throws -> (names: [MediaName], last: Int64) {
        try database.writeBlocking { sql in
            _ = try Self.lockedSum(Self.everyTeam, sql)
            let expired = try sql.rows(
                """
                DELETE FROM file WHERE name IN (SELECT name FROM file WHERE expires_at <= ? ORDER BY expires_at LIMIT 1000)
                RETURNING *
                """, now)
            for row in expired {
                if let file = try MediaFile(row) { _ = try delete(file, row: row, sql) }
            }
            try sql.run("DELETE FROM removed WHERE expires_at <= ?", now)
            let rows = try sql.rows("SELECT name, number FROM removed WHERE number > ? ORDER BY number", last)
            let names = try rows.compactMap { MediaName(try $0["name"] as String) }
            return (names, try rows.last?["number"] ?? last)
        }
    }

    /// The present expiry of files; those that are not recorded are left out.
    func expiries(of names: [MediaName]) throws -> [MediaName: Timestamp] {
        try database.readBlocking { sql in
            var found: [MediaName: Timestamp] = [:]
            let rows = try sql.execute(
                "SELECT name, expires_at FROM file WHERE name = ?", each: names.map { [$0.description.parameter] })
            for row in rows.flatMap(\.rows) {
                if let name = MediaName(try row["name"] as String) { found[name] = try row["expires_at"] }
            }
            return found
        }
    }

    /// Counts a file that was deleted; its object is deleted later.
    ///
    /// - Returns: The key of the object.
    private func delete(_ file: MediaFile, row: any SQLRow, _ sql: any SQLConnection) throws -> String? {
        try Self.count(file, by: -1, sql)
        let object: String? = try row["object"]
        if let object { try use(object, isUsed: false, sql) }
        return object
    }

    // MARK: Steps

    private func insert(_ file: MediaFile, object: String?, _ sql: any SQLConnection) throws {
        try sql.run(
            """
            INSERT INTO file(name, format, bytes, sha256, team, made_at, expires_at, object)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """, file.name.description, file.format.rawValue, file.bytes, file.digest, file.teamText, file.made,
            file.expires, object)
        _ = try addCopy(of: file.name, sql)
        try Self.count(file, by: 1, sql)
    }

    private func addCopy(of name: MediaName, _ sql: any SQLConnection) throws -> Bool {
        // The row stays until the copy is committed.
        guard try sql.row("SELECT name FROM file WHERE name = ? FOR KEY SHARE", name.description) != nil else {
            return false
        }
        try sql.run(
            "INSERT INTO copy(name, node) VALUES (?, ?) ON CONFLICT DO NOTHING", name.description, Int64(node))
        return true
    }

    private struct Sum {
        var bytes: Int64
        var count: Int
    }

    /// The sums of a team, or of all. Their row is locked: changes are made one after the other.
    private static func lockedSum(_ team: String, _ sql: any SQLConnection) throws -> Sum {
        let row = try sql.row(
            """
            INSERT INTO sum(team, bytes, count) VALUES (?, 0, 0)
            ON CONFLICT (team) DO UPDATE SET count = sum.count RETURNING bytes, count
            """, team)
        return Sum(bytes: try row?["bytes"] ?? 0, count: try row?["count"] ?? 0)
    }

    private static func sum(_ team: String, _ sql: any SQLConnection) throws -> Sum {
        let row = try sql.row("SELECT bytes, count FROM sum WHERE team = ?", team)
        return Sum(bytes: try row?["bytes"] ?? 0, count: try row?["count"] ?? 0)
    }

    private static func check(
        _ bytes: Int64, team: Sum?, all: Sum, _ settings: MediaStore.Settings
    ) throws {
        if let team {
            let countLimit = max(1, settings.countLimit / 2)
            guard team.count < countLimit else { throw MediaRejection.teamCount(countLimit) }
            guard team.bytes + bytes <= settings.teamQuota else {
                throw MediaRejection.teamQuota(used: team.bytes, limit: settings.teamQuota)
            }
        }
        guard all.count < settings.countLimit else { throw MediaRejection.count(settings.countLimit) }
        guard all.bytes + bytes <= settings.quota else { throw MediaRejection.quota(settings.quota) }
    }

    private static func count(_ file: MediaFile, by change: Int64, _ sql: any SQLConnection) throws {
        for team in file.team == nil ? [everyTeam] : [everyTeam, file.teamText] {
            _ = try lockedSum(team, sql)
            try sql.run(
                "UPDATE sum SET bytes = bytes + ?, count = count + ? WHERE team = ?", change * file.bytes, change, team)
        }
    }
}

extension MediaFile {
    /// The team in the register, where a file without one has an empty text.
    var teamText: String { team?.rawValue ?? "" }

    /// - Returns: `nil` for a file that a later version recorded.
    fileprivate init?(_ row: any SQLRow) throws {
        guard let name = MediaName(try row["name"] as String),
            let format = MediaFormat(rawValue: try row["format"] as String)
        else { return nil }
        let team: String = try row["team"]
        self.init(
            name: name, format: format, bytes: try row["bytes"], digest: try row["sha256"],
            team: team.isEmpty ? nil : TeamID(rawValue: team), made: try row["made_at"], expires: try row["expires_at"])
    }
}
