import PushCore

/// The settings of a PostgreSQL server on which the store's promises rest.
package struct PostgresInspection: Hashable, Sendable {
    /// A setting that is not as it should be.
    package struct Fault: Hashable, Sendable, CustomStringConvertible {
        /// The setting, such as `fsync`.
        package var setting: String
        /// The value.
        package var value: String
        /// The remedy.
        package var remedy: String

        /// The setting with its value, and the remedy.
        package var description: String { "PostgreSQL's \(setting) is \(value); \(remedy)" }
    }

    /// The server's version, such as `15.18`.
    package let version: String
    /// The settings under which something accepted could be lost.
    package let faults: [Fault]
    /// The standbys that a commit waits for, as `synchronous_standby_names` has them; empty where there is none.
    package let standbys: String

    /// The version and the standbys, in a line.
    package var summary: String {
        "PostgreSQL \(version), synchronous standbys: \(standbys.isEmpty ? "none" : standbys)"
    }

    /// The settings with the value that they must have.
    private static let needed = [("fsync", "on"), ("full_page_writes", "on")]

    /// The provider's public key that was not revoked, with its team; `nil` where the register has none with that id, or the
    /// tables are those of another version. Nothing is changed.
    ///
    /// - Throws: ``PostgresError`` where the server cannot be reached.
    package static func providerKey(
        _ id: KeyID, in parameters: [String: String]
    ) throws -> (team: TeamID, publicKeyPEM: String)? {
        let connection = try PostgresConnection(parameters)
        guard try PostgresSchema.version(connection) == PostgresSchema.version else { return nil }
        return try connection.run(
            "SELECT team, public_key FROM provider_key WHERE key_id = $1 AND revoked_at IS NULL", id.rawValue
        ).first.map { (TeamID(rawValue: try $0[0]), try $0[1]) }
    }

    /// Whether a database has the tables of this program's version.
    ///
    /// - Throws: ``PostgresError`` where the server cannot be reached.
    package static func isOfThisVersion(_ parameters: [String: String]) throws -> Bool {
        try PostgresSchema.version(PostgresConnection(parameters)) == PostgresSchema.version
    }

    /// Looks at a server.
    ///
    /// - Throws: ``PostgresError`` where it cannot be reached.
    package init(_ parameters: [String: String]) throws { try self.init(of: try PostgresConnection(parameters)) }

    /// Looks at the server of a connection.
    init(of connection: PostgresConnection) throws {
        func setting(_ name: String) throws -> String {
            try connection.run("SELECT current_setting($1)", name)[0][0]
        }
        version = try setting("server_version")
        standbys = try setting("synchronous_standby_names")
        var faults: [Fault] = []
        for (name, needed) in Self.needed {
            let value = try setting(name)
            guard value != needed else { continue }
            faults.append(Fault(setting: name, value: value, remedy: "set \(name) to \(needed) in postgresql.conf"))
        }
        let commit = try setting("synchronous_commit")
        if commit == "off" {
            faults.append(
                Fault(
                    setting: "synchronous_commit", value: commit,
                    remedy: "set synchronous_commit to on in postgresql.conf"))
        }
        if connection.serverVersion < 150_000 {
            faults.append(Fault(setting: "version", value: version, remedy: "use PostgreSQL 15 or later"))
        }
        self.faults = faults
    }
}
