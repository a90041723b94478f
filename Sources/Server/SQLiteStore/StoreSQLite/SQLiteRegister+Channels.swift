import APNsProtocol
import Foundation
import GRDB
import PushCore
import PushServer

/// Broadcast channels.
extension SQLiteRegister: ChannelRegister {
    /// Counts and stores in one transaction.
    package func addChannel(_ channel: BroadcastChannel, limit: Int) async throws -> Bool {
        try await pool.write { database in
            let count = try Int.fetchOne(
                database.cachedStatement(
                    sql: "SELECT count(*) FROM broadcast_channel WHERE app = ? AND environment = ?"),
                arguments: [channel.app.column, channel.environment.column])
            guard count ?? 0 < limit else { return false }
            try database.execute(
                sql: """
                    INSERT INTO broadcast_channel(app, environment, channel, policy, created_at) VALUES(?, ?, ?, ?, ?)
                    """,
                arguments: [
                    channel.app.column, channel.environment.column, Data(channel.id.bytes), channel.policy.rawValue,
                    channel.createdAt.rawValue,
                ])
            return true
        }
    }

    /// Deletes the channel's row.
    package func removeChannel(_ id: ChannelID, of place: AppPlace) async throws -> Bool {
        try await pool.write { database in
            try database.execute(
                sql: "DELETE FROM broadcast_channel WHERE app = ? AND environment = ? AND channel = ?",
                arguments: [place.app.column, place.environment.column, Data(id.bytes)])
            return database.changesCount == 1
        }
    }

    /// Reads the channel's row.
    package func channel(_ id: ChannelID, of place: AppPlace) async throws -> BroadcastChannel? {
        try await pool.read { database in
            try Row.fetchOne(
                database.cachedStatement(
                    sql: "SELECT * FROM broadcast_channel WHERE app = ? AND environment = ? AND channel = ?"),
                arguments: [place.app.column, place.environment.column, Data(id.bytes)]
            ).flatMap(Self.channel)
        }
    }

    /// Reads the rows of the app.
    package func channels(of place: AppPlace) async throws -> [BroadcastChannel] {
        try await pool.read { database in
            try Row.fetchAll(
                database, sql: "SELECT * FROM broadcast_channel WHERE app = ? AND environment = ? ORDER BY channel",
                arguments: [place.app.column, place.environment.column]
            ).compactMap(Self.channel)
        }
    }

    private static func channel(_ row: Row) -> BroadcastChannel? {
        guard let id = ChannelID(bytes: row["channel"] as Data),
            let policy = ChannelStoragePolicy(rawValue: row["policy"])
        else { return nil }
        return BroadcastChannel(
            id: id, app: AppID(column: row["app"]), environment: PushEnvironment(column: row["environment"]),
            policy: policy, createdAt: Timestamp(rawValue: row["created_at"]))
    }
}
