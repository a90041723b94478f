import Foundation
import PushCore
import PushServer

extension PostgresStore: AppMessageStore {
    /// Stores the messages in one transaction.
    package func save(
        _ messages: [AppMessage], limits: MessageLimits, at now: Timestamp
    ) async throws -> [MessageInsertion] {
        try await pool.write { connection in
            // Each app's messages are counted in one row: in another order two batches could lock each other out.
            for app in Set(messages.map(\.app.rawValue)).sorted() {
                try connection.run("SELECT pg_advisory_xact_lock(41443, $1::int)", Int(Int32(truncatingIfNeeded: app)))
            }
            return try messages.map { try Self.insert($0, limits: limits, at: now, connection) }
        }
    }

    private static func insert(
        _ message: AppMessage, limits: MessageLimits, at now: Timestamp, _ connection: PostgresConnection
    ) throws -> MessageInsertion {
        let place = [PostgresParameter(message.device), PostgresParameter(message.app)]
        let rows = try connection.pipeline([
            .init(
                "SELECT 1 FROM app_message WHERE device = $1 AND app = $2 AND message_id = $3",
                place + [PostgresParameter(message.messageID)]),
            // An app may be registered in both environments: the later registration is the app that runs.
            .init(
                """
                SELECT environment, generation FROM registration WHERE device = $1 AND app = $2 AND ended_at IS NULL
                ORDER BY registered_at DESC LIMIT 1
                """, place),
            .init("SELECT device, waiting FROM app_message_count WHERE device IN ($1, 0) AND app = $2", place),
        ])
        guard rows[0].isEmpty else { return .known }
        guard let registration = rows[1].first else { return .notRegistered }
        for row in rows[2] {
            let isApp = try row[0] == 0
            guard try row[1] < (isApp ? limits.app : limits.device) else { return .full }
        }
        try connection.run(
            """
            INSERT INTO app_message(device, app, message_id, team, environment, generation, data, raw, received_at, expires_at)
            VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            """, message.device, message.app, message.messageID, message.team, registration[0] as PushEnvironment,
            registration[1] as Int64, Array(try JSONEncoder().encode(message.data)),
            message.raw.isEmpty ? nil : message.raw, now, message.expiresAt)
        return .kept
    }

    /// Reads messages by the index of the scope.
    package func waitingMessages(
        _ scope: MessageScope, after number: Int64, limit: Int, at now: Timestamp
    ) async throws -> [WaitingMessage] {
        try await pool.read { connection in
            let (condition, parameter) = Self.condition(scope)
            return try connection.run(
                .init(
                    """
                    SELECT app_message.*, app.topic FROM app_message JOIN app ON app.id = app_message.app
                    WHERE ended_at IS NULL AND number > $1 AND expires_at > $2 AND app.removed_at IS NULL AND \(condition)
                    ORDER BY number LIMIT $3
                    """, [PostgresParameter(number), PostgresParameter(now), PostgresParameter(limit)] + parameter)
            ).map { try WaitingMessage($0) }
        }
    }

    /// The condition of a scope, with its parameter as the fourth. Only an app's scope includes messages that are queued for its
    /// webhook.
    private static func condition(_ scope: MessageScope) -> (String, [PostgresParameter]) {
        if let app = scope.app { return ("app_message.app = $4", [PostgresParameter(app)]) }
        let streamed = "NOT EXISTS(SELECT 1 FROM webhook WHERE webhook.app = app_message.app)"
        guard let team = scope.team else { return (streamed, []) }
        return ("app_message.team = $4 AND \(streamed)", [PostgresParameter(team)])
    }

    private static let endSQL = """
        UPDATE app_message SET ended_at = $1, ending = $2, data = NULL, raw = NULL WHERE ended_at IS NULL
        """

    /// Ends a slice in one transaction.
    package func takeMessages(
        _ scope: MessageScope, through number: Int64, limit: Int, at now: Timestamp
    ) async throws -> Int {
        try await pool.write { connection in
            let (condition, parameter) = Self.condition(scope)
            let numbers: [Int64] = try connection.run(
                .init(
                    """
                    SELECT number FROM app_message WHERE ended_at IS NULL AND number <= $1 AND $2::bigint IS NOT NULL
                        AND \(condition) ORDER BY number LIMIT $3
                    """, [PostgresParameter(number), PostgresParameter(now), PostgresParameter(limit)] + parameter)
            ).map { try $0[0] }
            try Self.end(numbers, with: .taken, at: now, connection)
            return numbers.count
        }
    }

    /// Ends a message in one transaction.
    package func takeMessage(_ number: Int64, at now: Timestamp) async throws -> Bool {
        try await pool.write { try Self.end([number], with: .taken, at: now, $0) > 0 }
    }

    @discardableResult
    private static func end(
        _ numbers: [Int64], with end: MessageEnd, at now: Timestamp, _ connection: PostgresConnection
    ) throws -> Int {
        guard !numbers.isEmpty else { return 0 }
        return try connection.run(
            .init(
                "\(endSQL) AND number = ANY($3::bigint[])",
                [PostgresParameter(now), PostgresParameter(end.rawValue), .int8s(numbers)])
        ).changed
    }

    /// Ends a slice in one transaction.
    package func expireMessages(at now: Timestamp, limit: Int) async throws -> Int {
        try await pool.write { connection in
            let due: [Int64] = try connection.run(
                "SELECT number FROM app_message WHERE ended_at IS NULL AND expires_at <= $1 ORDER BY expires_at LIMIT $2",
                now, limit
            ).map { try $0[0] }
            try Self.end(due, with: .expired, at: now, connection)
            return due.count
        }
    }

    /// Deletes a slice in one transaction.
    package func forgetMessages(endedBefore instant: Timestamp, limit: Int) async throws -> Int {
        try await pool.write { connection in
            try connection.run(
                """
                DELETE FROM app_message WHERE number IN (SELECT number FROM app_message
                    WHERE ended_at IS NOT NULL AND ended_at < $1 ORDER BY ended_at LIMIT $2)
                """, instant, limit
            ).changed
        }
    }

    /// Finds messages by their app and id.
    package func messageEnds(app: AppID, messageID: String) async throws -> [DeviceID: MessageEnd?] {
        try await pool.read { connection in
            let rows = try connection.run(
                "SELECT device, ending FROM app_message WHERE app = $1 AND message_id = $2 LIMIT 1000", app, messageID)
            return try rows.reduce(into: [:]) { ends, row in
                ends.updateValue((try row[1] as String?).flatMap(MessageEnd.init), forKey: try row[0])
            }
        }
    }

    /// Sets the webhook, which is a change of the register and so read again by the dispatcher.
    package func setWebhook(_ webhook: Webhook?, app: AppID) async throws {
        try await register.changeRegister { connection in
            guard let webhook else {
                try connection.run("DELETE FROM webhook WHERE app = $1", app)
                return
            }
            try connection.run(
                """
                INSERT INTO webhook(app, url, secret, set_at) VALUES($1, $2, $3, $4)
                ON CONFLICT (app) DO UPDATE SET url = excluded.url, secret = excluded.secret, set_at = excluded.set_at
                """, app, webhook.url, webhook.secret, webhook.setAt)
        }
    }

    /// Reads all webhooks.
    package func webhooks() async throws -> [Webhook] {
        try await pool.read { connection in
            try connection.run(
                """
                SELECT webhook.app, url, secret, set_at FROM webhook JOIN app ON app.id = webhook.app
                WHERE app.removed_at IS NULL ORDER BY webhook.app
                """
            ).map { Webhook(app: try $0[0], url: try $0[1], secret: try $0[2], setAt: try $0[3]) }
        }
    }
}

extension WaitingMessage {
    fileprivate init(_ row: PostgresRow) throws {
        let data: [UInt8]? = try row["data"]
        self.init(
            number: try row["number"],
            message: AppMessage(
                device: try row["device"], app: try row["app"], team: try row["team"], messageID: try row["message_id"],
                data: try data.map { try JSONDecoder().decode([String: String].self, from: Data($0)) } ?? [:],
                raw: try row["raw"] as [UInt8]? ?? [], expiresAt: try row["expires_at"]),
            topic: try row["topic"], environment: try row["environment"], generation: try row["generation"],
            receivedAt: try row["received_at"])
    }
}
