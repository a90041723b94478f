import Glibc
import PushCore
import PushServer
import Synchronization

/// The register in a PostgreSQL database: apps, keys, certificates, teams, devices and their registrations.
///
/// Every node sees the changes of the others by ``registerVersion``.
package struct PostgresRegister: RegisterStore {
    let pool: PostgresPool
    private let known: KnownVersion

    /// The version that this process knows, and the connection by which it gets to know those of others.
    private final class KnownVersion: Sendable {
        let value: Atomic<UInt64>
        let listener = Mutex<PostgresConnection?>(nil)
        let connect: @Sendable () throws -> PostgresConnection

        init(_ value: UInt64, connect: @escaping @Sendable () throws -> PostgresConnection) {
            self.value = Atomic(value)
            self.connect = connect
        }
    }

    init(
        pool: PostgresPool, version connection: PostgresConnection,
        connect: @escaping @Sendable () throws -> PostgresConnection
    ) throws {
        self.pool = pool
        known = KnownVersion(try Self.version(connection), connect: connect)
    }

    /// The version that is known in memory.
    package var registerVersion: UInt64 { known.value.load(ordering: .acquiring) }

    private static let versionSQL = "SELECT version FROM register_version"

    private static func version(_ connection: PostgresConnection) throws -> UInt64 {
        UInt64(clamping: try connection.run(versionSQL).first?[0] as Int64? ?? 0)
    }

    /// Waits on a connection of its own for a notification of PostgreSQL, and then reads the version.
    package func waitForRegisterChange(since version: UInt64, milliseconds: Int32) {
        guard registerVersion == version else { return }
        known.listener.withLock { listener in
            do {
                if listener?.isUsable != true {
                    listener = nil
                    let connection = try known.connect()
                    try connection.execute("LISTEN register")
                    listener = connection
                } else {
                    try listener?.waitForNotification(upTo: .milliseconds(milliseconds))
                }
                if let listener { known.value.max(try Self.version(listener), ordering: .acquiringAndReleasing) }
            } catch {
                listener = nil
                // PostgreSQL cannot be reached: it is asked again after the same time.
                poll(nil, 0, milliseconds)
            }
        }
    }

    /// Changes the register; its version rises in the same transaction, and one change follows the other.
    func changeRegister<Result: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws -> Result
    ) async throws -> Result {
        let (result, version) = try await pool.write { connection in
            let rows = try connection.run("UPDATE register_version SET version = version + 1 RETURNING version")
            let result = try body(connection)
            try connection.run("SELECT pg_notify('register', '')")
            return (result, UInt64(clamping: try rows.first?[0] as Int64? ?? 0))
        }
        known.value.max(version, ordering: .acquiringAndReleasing)
        return result
    }

    /// The apps that were not removed, in the order of their ids.
    package func apps() async throws -> [RegisteredApp] {
        try await pool.read { connection in
            try connection.run("SELECT * FROM app WHERE removed_at IS NULL ORDER BY id").map { try RegisteredApp($0) }
        }
    }

    /// Adds an app, or restores a removed one of the same team under its id, with the new policy.
    ///
    /// - Throws: ``RegisterError`` when the topic is an app's, or was an app of another team.
    package func addApp(
        topic: Topic, team: TeamID, policy: MailboxPolicy, at now: Timestamp
    ) async throws -> RegisteredApp {
        try await changeRegister { connection in
            if let known = try connection.run("SELECT * FROM app WHERE topic = $1", topic).first {
                let owner: TeamID = try known["team"]
                let removedAt: Timestamp? = try known["removed_at"]
                guard removedAt != nil else { throw RegisterError.topicTaken(topic, by: owner) }
                guard owner == team else { throw RegisterError.topicKept(topic, for: owner) }
                let id: AppID = try known["id"]
                try connection.run(
                    """
                    UPDATE app SET mailbox_limit = $2, overflow = $3, removed_at = NULL, name = NULL, push_enabled = true
                    WHERE id = $1
                    """, id, policy.limit, policy.overflow.rawValue)
                return RegisteredApp(id: id, topic: topic, team: team, policy: policy)
            }
            let added = try connection.run(
                """
                INSERT INTO app(topic, team, mailbox_limit, overflow, created_at) VALUES($1, $2, $3, $4, $5) RETURNING *
                """, topic, team, policy.limit, policy.overflow.rawValue, now)
            return try RegisteredApp(added[0])
        }
    }

    /// Removes an app and ends its active registrations, in one transaction.
    package func removeApp(topic: Topic, at now: Timestamp) async throws -> RegisteredApp? {
        try await changeRegister { connection in
            let found = try connection.run(
                "UPDATE app SET removed_at = $2 WHERE topic = $1 AND removed_at IS NULL RETURNING *", topic, now)
            guard let app = try found.first.map({ try RegisteredApp($0) }) else { return nil }
            try connection.run("UPDATE registration SET ended_at = $2 WHERE app = $1 AND ended_at IS NULL", app.id, now)
            for table in ["tombstone", "encryption_key"] {
                try connection.run("DELETE FROM \(table) WHERE app = $1", app.id)
            }
            return app
        }
    }

    /// The keys that were not revoked, the oldest first.
    package func providerKeys() async throws -> [ProviderKey] {
        try await pool.read { connection in
            try connection.run("SELECT * FROM provider_key WHERE revoked_at IS NULL ORDER BY created_at, key_id")
                .map { try ProviderKey($0) }
        }
    }

    /// Adds a key.
    ///
    /// - Throws: ``RegisterError/keyIDTaken(_:)``, also for the id of a revoked key.
    package func addProviderKey(_ key: ProviderKey) async throws {
        try await changeRegister { connection in
            let added = try connection.run(
                """
                INSERT INTO provider_key(key_id, team, public_key, created_at) VALUES($1, $2, $3, $4)
                ON CONFLICT DO NOTHING
                """, key.keyID, key.team, key.publicKeyPEM, key.createdAt)
            guard added.changed == 1 else { throw RegisterError.keyIDTaken(key.keyID) }
        }
    }

    /// Revokes a key; its id stays taken.
    package func revokeProviderKey(_ keyID: KeyID, at now: Timestamp) async throws -> ProviderKey? {
        try await changeRegister { connection in
            try connection.run(
                "UPDATE provider_key SET revoked_at = $2 WHERE key_id = $1 AND revoked_at IS NULL RETURNING *", keyID,
                now
            ).first.map { try ProviderKey($0) }
        }
    }
}

/// Devices.
extension PostgresRegister {
    /// Adds a device; `false` also if the id belongs to a revoked one.
    package func addDevice(_ device: DeviceID, secretHash: [UInt8], at now: Timestamp) async throws -> Bool {
        try await pool.write { connection in
            try connection.run(
                "INSERT INTO device(id, secret_hash, enrolled_at) VALUES($1, $2, $3) ON CONFLICT DO NOTHING", device,
                secretHash, now
            ).changed == 1
        }
    }

    /// The hash that was given to ``addDevice(_:secretHash:at:)``.
    package func secretHash(of device: DeviceID) async throws -> [UInt8]? {
        try await pool.read { connection in
            try connection.run(
                "SELECT secret_hash FROM device WHERE id = $1 AND revoked_at IS NULL AND blocked_at IS NULL", device
            ).first?[0]
        }
    }

    /// Revokes a device and ends its active registrations, in one transaction.
    package func revokeDevice(_ device: DeviceID, at now: Timestamp) async throws -> Bool {
        try await changeRegister { connection in
            let revoked = try connection.run(
                "UPDATE device SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL", device, now)
            guard revoked.changed == 1 else { return false }
            try connection.run(
                "UPDATE registration SET ended_at = $2 WHERE device = $1 AND ended_at IS NULL", device, now)
            for table in ["tombstone", "recall", "missed", "encryption_key"] {
                try connection.run("DELETE FROM \(table) WHERE device = $1", device)
            }
            return true
        }
    }

    /// The devices that were revoked or blocked at or after the instant, in no order.
    package func devicesRevoked(since instant: Timestamp) async throws -> [DeviceID] {
        try await pool.read { connection in
            try connection.run(
                """
                SELECT id FROM device WHERE revoked_at IS NOT NULL AND revoked_at >= $1
                UNION SELECT id FROM device WHERE blocked_at IS NOT NULL AND blocked_at >= $1
                """, instant
            ).map { try $0[0] }
        }
    }
}

extension RegisteredApp {
    init(_ row: PostgresRow) throws {
        let overflow: String = try row["overflow"]
        self.init(
            id: try row["id"], topic: try row["topic"], team: try row["team"],
            policy: MailboxPolicy(
                limit: try row["mailbox_limit"], overflow: MailboxPolicy.Overflow(rawValue: overflow) ?? .dropOldest),
            name: try row["name"], isPushEnabled: try row["push_enabled"])
    }
}

extension ProviderKey {
    fileprivate init(_ row: PostgresRow) throws {
        self.init(
            keyID: try row["key_id"], team: try row["team"], publicKeyPEM: try row["public_key"],
            createdAt: try row["created_at"])
    }
}
