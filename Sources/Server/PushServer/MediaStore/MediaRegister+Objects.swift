import PushCore

/// The objects that files have in a bucket, and those that no file has.
extension MediaRegister {
    /// The time within which an upload has ended for certain, also where the servers' clocks differ; in milliseconds.
    private static let longestUpload: Int64 = 24 * 3_600_000

    /// Whether a file has to be stored as an object: none with the same bytes of its team has one.
    ///
    /// - Throws: ``MediaRejection`` where the quotas do not allow it.
    func needsObject(_ file: MediaFile, _ settings: MediaStore.Settings) throws -> Bool {
        let isKnown = try database.readBlocking { sql in
            try sql.row(
                "SELECT name FROM file WHERE team = ? AND sha256 = ? AND object IS NOT NULL LIMIT 1", file.teamText,
                file.digest) != nil
        }
        guard !isKnown else { return false }
        try require(file.bytes, for: file.team, settings)
        return true
    }

    /// Records that an object is about to be stored, which is deleted unless ``add(_:object:needsObject:_:)`` follows.
    func beginObject(_ key: String, at now: Timestamp) throws {
        try setUnused(key, dueAt: now.adding(milliseconds: Self.longestUpload))
    }

    /// Lets the next sweep delete the object of an upload that was refused.
    func dropObject(_ key: String) throws { try setUnused(key, dueAt: Timestamp(rawValue: 0)) }

    /// Records when an object that no file needs is to be deleted.
    func setUnused(_ key: String, dueAt due: Timestamp) throws {
        try database.writeBlocking { try Self.setUnused(key, dueAt: due, $0) }
    }

    private static func setUnused(_ key: String, dueAt due: Timestamp, _ sql: any SQLConnection) throws {
        try sql.run(
            "INSERT INTO unused_object(key, due_at) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET due_at = ?2", key,
            due)
    }

    /// The keys of objects that no file needs any more.
    func unusedObjects(at now: Timestamp, limit: Int) throws -> [String] {
        try database.readBlocking { sql in
            try sql.rows("SELECT key FROM unused_object WHERE due_at <= ? ORDER BY due_at LIMIT ?", now, limit)
                .map { try $0["key"] }
        }
    }

    /// Records that an object was deleted.
    func objectDeleted(_ key: String) throws { try database.writeBlocking { try Self.forgetUnused(key, $0) } }

    private static func forgetUnused(_ key: String, _ sql: any SQLConnection) throws {
        try sql.run("DELETE FROM unused_object WHERE key = ?", key)
    }

    /// Records whether a file has an object; one that none has is deleted later.
    func use(_ object: String, isUsed: Bool, _ sql: any SQLConnection) throws {
        if isUsed {
            try Self.forgetUnused(object, sql)
        } else {
            try Self.setUnused(object, dueAt: Timestamp(rawValue: 0), sql)
        }
    }
}
