import PushCore
import PushServer
import WebPushProtocol

/// Browsers' subscriptions.
extension PostgresRegister: WebChannelRegister {
    /// Counts and stores in one transaction. Two at the same time may exceed the limit by one.
    package func storeWebChannel(_ channel: WebChannel, limit: Int) async throws -> Bool {
        try await pool.write { connection in
            let others: Int64 = try connection.run(
                "SELECT count(*) FROM web_channel WHERE device = $1 AND channel <> $2", channel.device, channel.id.bytes
            )[0][0]
            guard others < limit else { return false }
            try connection.run(
                """
                INSERT INTO web_channel(device, channel, app, environment, generation, sender, registered_at)
                VALUES($1, $2, $3, $4, $5, $6, $7)
                ON CONFLICT (device, channel) DO UPDATE SET app = excluded.app, environment = excluded.environment,
                    generation = excluded.generation, sender = excluded.sender, registered_at = excluded.registered_at
                """, channel.device, channel.id.bytes, channel.app, channel.environment, Int64(channel.generation),
                channel.sender, channel.registeredAt)
            return true
        }
    }

    /// Deletes the subscription's row.
    package func removeWebChannel(_ id: PushChannelID, of device: DeviceID) async throws -> Bool {
        try await pool.write {
            try $0.run("DELETE FROM web_channel WHERE device = $1 AND channel = $2", device, id.bytes).changed == 1
        }
    }

    /// Reads the subscription's row.
    package func webChannel(_ id: PushChannelID, of device: DeviceID) async throws -> WebChannel? {
        try await pool.read {
            try $0.run("SELECT * FROM web_channel WHERE device = $1 AND channel = $2", device, id.bytes)
                .first.flatMap(WebChannel.init)
        }
    }

    /// Reads the rows of the device.
    package func webChannels(of device: DeviceID) async throws -> [WebChannel] {
        try await pool.read {
            try $0.run("SELECT * FROM web_channel WHERE device = $1 ORDER BY channel", device).compactMap(
                WebChannel.init)
        }
    }
}

extension WebChannel {
    /// Reads a row; `nil` for an id of another length than 16 bytes.
    fileprivate init?(_ row: PostgresRow) throws {
        let bytes: [UInt8] = try row["channel"]
        guard let id = PushChannelID(bytes: bytes) else { return nil }
        let generation: Int64 = try row["generation"]
        self.init(
            device: try row["device"], id: id, app: try row["app"], environment: try row["environment"],
            generation: UInt16(truncatingIfNeeded: generation), sender: try row["sender"],
            registeredAt: try row["registered_at"])
    }
}
