import APNsProtocol
import PushCore
import PushServer

/// Broadcast channels.
extension PostgresRegister: ChannelRegister {
    /// Counts and stores in one transaction. Transactions at the same time do not see each other, and may exceed the limit.
    package func addChannel(_ channel: BroadcastChannel, limit: Int) async throws -> Bool {
        try await pool.write { connection in
            let count: Int64 = try connection.run(
                "SELECT count(*) FROM broadcast_channel WHERE app = $1 AND environment = $2", channel.app,
                channel.environment)[0][0]
            guard count < limit else { return false }
            try connection.run(
                """
                INSERT INTO broadcast_channel(app, environment, channel, policy, created_at)
                VALUES($1, $2, $3, $4, $5)
                """, channel.app, channel.environment, channel.id.bytes, Int64(channel.policy.rawValue),
                channel.createdAt)
            return true
        }
    }

    /// Deletes the channel's row.
    package func removeChannel(_ id: ChannelID, of place: AppPlace) async throws -> Bool {
        try await pool.write {
            try $0.run(
                "DELETE FROM broadcast_channel WHERE app = $1 AND environment = $2 AND channel = $3", place.app,
                place.environment, id.bytes
            ).changed == 1
        }
    }

    /// Reads the channel's row.
    package func channel(_ id: ChannelID, of place: AppPlace) async throws -> BroadcastChannel? {
        try await pool.read {
            try $0.run(
                "SELECT * FROM broadcast_channel WHERE app = $1 AND environment = $2 AND channel = $3", place.app,
                place.environment, id.bytes
            ).first.flatMap(BroadcastChannel.init)
        }
    }

    /// Reads the rows of the app.
    package func channels(of place: AppPlace) async throws -> [BroadcastChannel] {
        try await pool.read {
            try $0.run(
                "SELECT * FROM broadcast_channel WHERE app = $1 AND environment = $2 ORDER BY channel", place.app,
                place.environment
            ).compactMap(BroadcastChannel.init)
        }
    }
}

extension BroadcastChannel {
    /// Reads a row; `nil` for a policy of a later version.
    fileprivate init?(_ row: PostgresRow) throws {
        let bytes: [UInt8] = try row["channel"]
        let number: Int64 = try row["policy"]
        guard let id = ChannelID(bytes: bytes), let policy = ChannelStoragePolicy(rawValue: Int(number)) else {
            return nil
        }
        self.init(
            id: id, app: try row["app"], environment: try row["environment"], policy: policy,
            createdAt: try row["created_at"])
    }
}
