import GRDB
import PushCore

extension HubDatabase {
    /// Reads the hub's credentials.
    package func credentials(of hub: Int64) async throws -> [PushCredential] {
        try await pool.read { database in
            try Row.fetchAll(
                database, sql: "SELECT * FROM push_credential WHERE hub = ? ORDER BY number", arguments: [hub]
            ).compactMap(PushCredential.init)
        }
    }

    /// Adds a credential, replacing the hub's credential for the same push service and environment.
    ///
    /// - Returns: The credential's number.
    package func setCredential(_ credential: PushCredential) async throws -> Int64 {
        try await pool.write { database in
            try database.execute(
                sql: """
                    INSERT OR REPLACE INTO push_credential(hub, service, kind, environment, address, name, owner, secret,
                        authority, expires_at, created_at)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    credential.hub, credential.kind.service, credential.kind.rawValue,
                    credential.environment?.rawValue ?? "", credential.address, credential.name, credential.owner,
                    credential.secret, credential.authority, credential.expiresAt?.rawValue,
                    credential.createdAt.rawValue,
                ])
            return database.lastInsertedRowID
        }
    }

    /// Removes a credential of a hub; returns whether it existed.
    package func removeCredential(_ number: Int64, of hub: Int64) async throws -> Bool {
        try await pool.write { database in
            try database.execute(
                sql: "DELETE FROM push_credential WHERE number = ? AND hub = ?", arguments: [number, hub])
            return database.changesCount > 0
        }
    }
}

extension PushCredential {
    /// Creates the credential from a row; `nil` for a row that this code did not write.
    init?(_ row: Row) {
        guard let kind = Kind(rawValue: row["kind"]) else { return nil }
        self.init(
            number: row["number"], hub: row["hub"], kind: kind,
            environment: PushEnvironment(rawValue: row["environment"]),
            address: row["address"], name: row["name"], owner: row["owner"], secret: row["secret"],
            authority: row["authority"], expiresAt: (row["expires_at"] as Int64?).map { Timestamp(rawValue: $0) },
            createdAt: Timestamp(rawValue: row["created_at"]))
    }
}
