import Foundation
import GRDB
import PushCore

/// The public keys of registrations.
extension SQLiteStore {
    /// Stores the key in place of an earlier one, or removes that.
    package func keepEncryptionKey(
        _ key: RecipientPublicKey?, device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws {
        try await pool.write { database in
            guard let key else {
                return try database.execute(
                    sql: "DELETE FROM encryption_key WHERE device = ? AND app = ? AND environment = ?",
                    arguments: [device.column, app.column, environment.column])
            }
            try database.execute(
                sql: """
                    INSERT OR REPLACE INTO encryption_key(
                        device, app, environment, point, authentication_secret, published_at)
                    VALUES(?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    device.column, app.column, environment.column, Data(key.point), Data(key.authenticationSecret),
                    now.rawValue,
                ])
        }
    }

    /// The key of a registration; `nil` when it has published none.
    package func encryptionKey(
        device: DeviceID, app: AppID, environment: PushEnvironment
    ) async throws -> RecipientPublicKey? {
        try await pool.read { database in
            try Row.fetchOne(
                database.cachedStatement(
                    sql: """
                        SELECT point, authentication_secret FROM encryption_key
                        WHERE device = ? AND app = ? AND environment = ?
                        """), arguments: [device.column, app.column, environment.column]
            ).map { row in
                try RecipientPublicKey(
                    point: Array(row[0] as Data), authenticationSecret: Array(row[1] as Data))
            }
        }
    }
}
