import AgentEngine
import AgentProtocol
import Foundation
import GRDB
import PushCore

/// The keys by which senders encrypt to apps.
///
/// A registration publishes a new key, unless the app has a device token and its newest key was published less than
/// ``renewalInterval`` ago: an app that starts often would fill the store. An older key opens messages until a newer
/// one has been published for ``retention``, as long as a server keeps notifications.
extension AgentStore {
    private static let renewalInterval: Int64 = 86_400_000
    private static let retention: Int64 = 30 * 86_400_000

    /// The key that a registration publishes: durable when this returns.
    package func keyToPublish(
        app: BundleID, environment: PushEnvironment, now: Timestamp
    ) throws -> RecipientPublicKey {
        try write { database in
            let reader = AgentReader(database: database)
            let newest = try Row.fetchOne(
                database.cachedStatement(
                    sql: """
                        SELECT published_at FROM encryption_key WHERE app = ? AND environment = ?
                        ORDER BY sequence DESC LIMIT 1
                        """), arguments: [app, environment.rawValue])
            if let newest, let key = try reader.encryptionKeys(app: app, environment: environment).first {
                let publishedAt: Int64? = newest[0]
                let age = publishedAt.map { now.milliseconds(since: Timestamp(rawValue: $0)) }
                var isRegistered = false
                if case .token = try reader.registration(app: app, environment: environment) { isRegistered = true }
                // A key that no server has is published by the next registration.
                guard let age else { return key.publicKey }
                if isRegistered, (0..<Self.renewalInterval).contains(age) { return key.publicKey }
            }
            let key = RecipientPrivateKey()
            try database.execute(
                sql: """
                    INSERT INTO encryption_key (app, environment, private_key, authentication_secret)
                    VALUES (?, ?, ?, ?)
                    """,
                arguments: [
                    app, environment.rawValue, Data(key.rawRepresentation.wrappedValue),
                    Data(key.publicKey.authenticationSecret),
                ])
            return key.publicKey
        }
    }

    /// The server has the newest key of an app. Keys that have been older for long enough go.
    package func keyPublished(app: BundleID, environment: PushEnvironment, now: Timestamp) throws {
        try write { database in
            try database.execute(
                sql: """
                    UPDATE encryption_key SET published_at = ?1
                    WHERE published_at IS NULL AND sequence =
                        (SELECT max(sequence) FROM encryption_key WHERE app = ?2 AND environment = ?3)
                    """, arguments: [now.rawValue, app, environment.rawValue])
            try Self.deleteOldKeys(database, now)
        }
    }

    /// Deletes the keys that have been older than a published one for long enough.
    package func deleteOldKeys(now: Timestamp) throws {
        try write { try Self.deleteOldKeys($0, now) }
    }

    private static func deleteOldKeys(_ database: Database, _ now: Timestamp) throws {
        try database.execute(
            sql: """
                DELETE FROM encryption_key WHERE EXISTS (
                    SELECT 1 FROM encryption_key AS newer
                    WHERE newer.app = encryption_key.app AND newer.environment = encryption_key.environment
                        AND newer.sequence > encryption_key.sequence AND newer.published_at < ?)
                """, arguments: [now.adding(milliseconds: -retention).rawValue])
    }
}

extension AgentReader {
    /// The keys of an app in an environment, the newest first: some thirty at most.
    package func encryptionKeys(app: BundleID, environment: PushEnvironment) throws -> [RecipientPrivateKey] {
        try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT private_key, authentication_secret FROM encryption_key
                    WHERE app = ? AND environment = ? ORDER BY sequence DESC
                    """), arguments: [app, environment.rawValue]
        ).compactMap { row in
            RecipientPrivateKey(
                rawRepresentation: Array(row[0] as Data), authenticationSecret: Array(row[1] as Data))
        }
    }

    /// The notification in which a message was opened; `nil` for one that was not.
    package func opener(of fingerprint: [UInt8]) throws -> NotificationID? {
        try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT notification FROM opened_message WHERE fingerprint = ?"),
            arguments: [Data(fingerprint)]
        ).map(NotificationID.init(rawValue:))
    }
}
