import Foundation
import GRDB
import PushCore
import PushServer

extension SQLiteStore: AppMessageStore {
    /// Stores the messages in one transaction of the writer's.
    package func save(
        _ messages: [AppMessage], limits: MessageLimits, at now: Timestamp
    ) async throws -> [MessageInsertion] {
        try await pool.write { database in
            try messages.map { try Self.save($0, limits: limits, at: now, database: database) }
        }
    }

    private static func save(
        _ message: AppMessage, limits: MessageLimits, at now: Timestamp, database: Database
    ) throws -> MessageInsertion {
        let known = try Int.fetchOne(
            database.cachedStatement(sql: "SELECT 1 FROM app_message WHERE app = ? AND message_id = ? AND device = ?"),
            arguments: [message.app.column, message.messageID, message.device.column])
        if known != nil { return .known }
        // An app may be registered in both environments: the later registration is the app that runs.
        let registration = try Row.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT environment, generation FROM registration WHERE device = ? AND app = ? AND ended_at IS NULL
                    ORDER BY registered_at DESC LIMIT 1
                    """), arguments: [message.device.column, message.app.column])
        guard let registration else { return .notRegistered }
        let counts = try Row.fetchAll(
            database.cachedStatement(
                sql: "SELECT device, waiting FROM app_message_count WHERE app = ? AND device IN (?, 0)"),
            arguments: [message.app.column, message.device.column])
        for count in counts where (count[1] as Int) >= ((count[0] as Int64) == 0 ? limits.app : limits.device) {
            return .full
        }
        try database.cachedStatement(
            sql: """
                INSERT INTO app_message(device, app, message_id, team, environment, generation, data, raw, received_at,
                    expires_at)
                VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            message.device.column, message.app.column, message.messageID, message.team.rawValue,
            registration[0] as Int64, registration[1] as Int64, try JSONEncoder().encode(message.data),
            message.raw.isEmpty ? nil : Data(message.raw), now.rawValue, message.expiresAt.rawValue,
        ])
        return .kept
    }

    /// Reads messages by the index of the scope.
    package func waitingMessages(
        _ scope: MessageScope, after number: Int64, limit: Int, at now: Timestamp
    ) async throws -> [WaitingMessage] {
        let (condition, arguments) = Self.condition(scope)
        return try await pool.read { database in
            try Row.fetchAll(
                database.cachedStatement(
                    sql: """
                        SELECT number, device, app_message.app, message_id, app_message.team, environment, generation,
                            data, raw, received_at, expires_at, topic
                        FROM app_message JOIN app ON app.id = app_message.app
                        WHERE ended_at IS NULL AND \(condition) AND number > ? AND expires_at > ?
                            AND app.removed_at IS NULL
                        ORDER BY number LIMIT ?
                        """),
                arguments: arguments + [number, now.rawValue, limit]
            ).compactMap(Self.waiting)
        }
    }

    private static func waiting(_ row: Row) throws -> WaitingMessage? {
        guard let device = DeviceID(column: row[1]) else { return nil }
        let data = try (row[7] as Data?).map { try JSONDecoder().decode([String: String].self, from: $0) }
        return WaitingMessage(
            number: row[0],
            message: AppMessage(
                device: device, app: AppID(column: row[2]), team: TeamID(rawValue: row[4]), messageID: row[3],
                data: data ?? [:], raw: (row[8] as Data?).map { Array($0) } ?? [],
                expiresAt: Timestamp(rawValue: row[10])),
            topic: Topic(rawValue: row[11]), environment: PushEnvironment(column: row[5]),
            generation: UInt16(truncatingIfNeeded: row[6] as Int64), receivedAt: Timestamp(rawValue: row[9]))
    }

    /// Ends a slice in one transaction of the writer's.
    package func takeMessages(
        _ scope: MessageScope, through number: Int64, limit: Int, at now: Timestamp
    ) async throws -> Int {
        let (condition, arguments) = Self.condition(scope)
        return try await pool.write { database in
            let numbers = try Int64.fetchAll(
                database,
                sql: """
                    SELECT number FROM app_message WHERE ended_at IS NULL AND \(condition) AND number <= ?
                    ORDER BY number LIMIT ?
                    """, arguments: arguments + [number, limit])
            for number in numbers { try Self.end(number, with: .taken, at: now, in: database) }
            return numbers.count
        }
    }

    /// Ends a message in one transaction of the writer's.
    package func takeMessage(_ number: Int64, at now: Timestamp) async throws -> Bool {
        try await pool.write { database in
            try Self.end(number, with: .taken, at: now, in: database)
            return database.changesCount > 0
        }
    }

    private static func end(_ number: Int64, with end: MessageEnd, at now: Timestamp, in database: Database) throws {
        try database.cachedStatement(
            sql: """
                UPDATE app_message SET ended_at = ?, ending = ?, data = NULL, raw = NULL
                WHERE number = ? AND ended_at IS NULL
                """
        ).execute(arguments: [now.rawValue, end.rawValue, number])
    }

    /// Ends a slice in one transaction of the writer's; checks on a reader's connection whether there is any.
    package func expireMessages(at now: Timestamp, limit: Int) async throws -> Int {
        let due = try await pool.read { database in
            try Int64.fetchAll(
                database,
                sql: """
                    SELECT number FROM app_message WHERE ended_at IS NULL AND expires_at <= ?
                    ORDER BY expires_at LIMIT ?
                    """, arguments: [now.rawValue, limit])
        }
        guard !due.isEmpty else { return 0 }
        return try await pool.write { database in
            for number in due { try Self.end(number, with: .expired, at: now, in: database) }
            return due.count
        }
    }

    /// Deletes a slice in one transaction of the writer's; checks on a reader's connection whether there is any.
    package func forgetMessages(endedBefore instant: Timestamp, limit: Int) async throws -> Int {
        let old = try await pool.read { database in
            try Int64.fetchAll(
                database,
                sql: """
                    SELECT number FROM app_message WHERE ended_at IS NOT NULL AND ended_at < ? ORDER BY ended_at LIMIT ?
                    """, arguments: [instant.rawValue, limit])
        }
        guard !old.isEmpty else { return 0 }
        return try await pool.write { database in
            for number in old {
                try database.cachedStatement(sql: "DELETE FROM app_message WHERE number = ?")
                    .execute(arguments: [number])
            }
            return old.count
        }
    }

    /// Finds messages by their app and id.
    package func messageEnds(app: AppID, messageID: String) async throws -> [DeviceID: MessageEnd?] {
        try await pool.read { database in
            let rows = try Row.fetchAll(
                database,
                sql: "SELECT device, ending FROM app_message WHERE app = ? AND message_id = ? LIMIT 1000",
                arguments: [app.column, messageID])
            var ends: [DeviceID: MessageEnd?] = [:]
            for row in rows {
                guard let device = DeviceID(column: row[0]) else { continue }
                ends.updateValue((row[1] as String?).flatMap(MessageEnd.init), forKey: device)
            }
            return ends
        }
    }

    /// Sets the webhook, which is a change of the register and so read again by the courier.
    package func setWebhook(_ webhook: Webhook?, app: AppID) async throws {
        try await pool.write { database in
            guard let webhook else {
                return try database.execute(sql: "DELETE FROM webhook WHERE app = ?", arguments: [app.column])
            }
            try database.execute(
                sql: "INSERT OR REPLACE INTO webhook(app, url, secret, set_at) VALUES(?, ?, ?, ?)",
                arguments: [app.column, webhook.url, webhook.secret, webhook.setAt.rawValue])
        }
        register.registerChanges.raise()
    }

    /// Reads all webhooks.
    package func webhooks() async throws -> [Webhook] {
        try await pool.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT webhook.app, url, secret, set_at FROM webhook JOIN app ON app.id = webhook.app
                    WHERE app.removed_at IS NULL ORDER BY webhook.app
                    """
            ).map { row in
                Webhook(
                    app: AppID(column: row[0]), url: row[1], secret: row[2], setAt: Timestamp(rawValue: row[3]))
            }
        }
    }

    /// The condition of a scope. Only an app's scope includes messages that are queued for its webhook.
    private static func condition(_ scope: MessageScope) -> (String, StatementArguments) {
        if let app = scope.app { return ("app_message.app = ?", [app.column]) }
        let streamed = "app_message.app NOT IN (SELECT app FROM webhook)"
        guard let team = scope.team else { return (streamed, []) }
        return ("app_message.team = ? AND \(streamed)", [team.rawValue])
    }
}
