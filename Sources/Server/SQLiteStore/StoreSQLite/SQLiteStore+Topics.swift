import Foundation
import GRDB
import PushCore
import PushServer

extension SQLiteStore: TopicStore {
    /// Subscribes active registrations, in one transaction with concurrent requests.
    package func subscribe(
        _ members: [TopicMember], to topic: TopicName, limit: Int, at now: Timestamp
    ) async throws -> [SubscriptionOutcome] {
        try await grouped.write { database in
            let joined = try Self.nextSequence(database)
            return try members.map { member in
                guard try Self.isActive(member.subject, database) else { return .ended }
                let number = try Self.number(of: topic, team: member.team, database)
                let place: StatementArguments = Self.place(member.subject)
                if try Self.membership(place, topic: number, database: database) != nil { return .known }
                let count = try Int.fetchOne(
                    database.cachedStatement(
                        sql: "SELECT count(*) FROM subscription WHERE device = ? AND app = ? AND environment = ?"),
                    arguments: place)
                guard count ?? 0 < limit else { return .tooManyTopics }
                try database.cachedStatement(
                    sql: """
                        INSERT INTO subscription(
                            device, app, environment, topic, generation, joined, subscribed_at)
                        VALUES(?, ?, ?, ?, ?, ?, ?)
                        """
                ).execute(
                    arguments: place + [number, Int64(member.subject.generation), joined, now.rawValue])
                return .subscribed
            }
        }
    }

    /// Ends subscriptions, in one transaction. Rows that a broadcast needs later are kept.
    package func unsubscribe(_ members: [TopicMember], from topic: TopicName) async throws -> [Bool] {
        try await grouped.write { database in
            let left = try Self.nextSequence(database)
            return try members.map { member in
                let place = Self.place(member.subject)
                guard
                    let number = try Self.knownNumber(of: topic, team: member.team, database),
                    let joined = try Self.membership(place, topic: number, database: database)
                else { return false }
                let key = place + [number]
                try database.cachedStatement(
                    sql: """
                        INSERT INTO past_subscription(device, app, environment, topic, generation, joined, ended)
                        SELECT device, app, environment, topic, generation, joined, ? FROM subscription
                        WHERE device = ? AND app = ? AND environment = ? AND topic = ? AND EXISTS(
                            SELECT 1 FROM broadcast WHERE ended_at IS NULL AND looks_back AND sequence > ?)
                        """
                ).execute(arguments: [left] + key + [joined])
                try database.cachedStatement(
                    sql: "DELETE FROM subscription WHERE device = ? AND app = ? AND environment = ? AND topic = ?"
                ).execute(arguments: key)
                return true
            }
        }
    }

    /// The subscriptions of a registration, by name.
    package func subscriptions(of subject: TokenSubject) async throws -> [TopicSubscription] {
        try await pool.read { database in
            try Row.fetchAll(
                database.cachedStatement(
                    sql: """
                        SELECT topic.name, subscription.subscribed_at FROM subscription
                        JOIN topic ON topic.id = subscription.topic
                        WHERE subscription.device = ? AND subscription.app = ? AND subscription.environment = ?
                            AND subscription.generation = ?
                        ORDER BY topic.name
                        """), arguments: Self.place(subject) + [Int64(subject.generation)]
            ).compactMap { row in
                (try? TopicName(row[0] as String)).map {
                    TopicSubscription(topic: $0, since: Timestamp(rawValue: row[1]))
                }
            }
        }
    }

    /// Stores the payload, the broadcast, and one row for each of its topics.
    package func insertBroadcast(_ draft: BroadcastDraft) async throws -> Broadcast {
        try await pool.write { database in
            if let name = draft.name, let known = try Self.broadcast(named: name, database) { return known }
            let sequence = try Self.nextSequence(database)
            var numbers: [TopicName: TopicNumber] = [:]
            for topic in draft.target.topics {
                numbers[topic] = try Self.knownNumber(of: topic, team: draft.team, database)
                    .map(TopicNumber.init(rawValue:))
            }
            let audience = draft.target.audience { numbers[$0] }
            let broadcast = Broadcast(
                id: draft.id, sequence: sequence, team: draft.team, audience: audience,
                acceptedAt: draft.acceptedAt, expiresAt: draft.expiresAt, isAttempt: draft.isAttempt)
            try database.cachedStatement(
                sql: "INSERT INTO payload(id, lane, content, checked_at) VALUES(?, ?, ?, ?)"
            ).execute(arguments: [
                draft.id.rawValue, Int64(draft.content.lane.rawValue), Data(draft.content.bytes),
                draft.acceptedAt.rawValue,
            ])
            try database.cachedStatement(
                sql: """
                    INSERT INTO broadcast(id, sequence, team, name, audience, written, push_type, priority, collapse_id,
                        accepted_at, expires_at, is_attempt, looks_back)
                    VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """
            ).execute(arguments: [
                draft.id.rawValue, sequence, draft.team.rawValue, draft.name, audience.text, draft.written,
                draft.pushType?.rawValue, Int64(draft.priority.rawValue), draft.collapseID, draft.acceptedAt.rawValue,
                draft.expiresAt.rawValue, draft.isAttempt, audience.dependsOnLeaving,
            ])
            for topic in audience.entries {
                try database.cachedStatement(
                    sql: "INSERT INTO broadcast_topic(topic, sequence, broadcast) VALUES(?, ?, ?)"
                ).execute(arguments: [topic.rawValue, sequence, draft.id.rawValue])
            }
            return broadcast
        }
    }

    private static func broadcast(named name: String, _ database: Database) throws -> Broadcast? {
        try Row.fetchOne(database, sql: "SELECT * FROM broadcast WHERE name = ?", arguments: [name])
            .flatMap(AudienceReader.broadcast)
    }

    /// Removes the broadcast from its topics.
    package func withdrawBroadcast(_ id: NotificationID, at now: Timestamp) async throws -> Bool {
        try await pool.write { database in
            try database.execute(
                sql: "UPDATE broadcast SET withdrawn_at = ? WHERE id = ? AND withdrawn_at IS NULL",
                arguments: [now.rawValue, id.rawValue])
            guard database.changesCount == 1 else { return false }
            // An expired broadcast may still have copies that are queued or shown.
            try database.execute(
                sql: """
                    UPDATE broadcast SET ended_at = NULL WHERE id = ?;
                    DELETE FROM broadcast_topic WHERE broadcast = ?
                    """, arguments: [id.rawValue, id.rawValue])
            return true
        }
    }

    /// The broadcasts whose withdrawal has begun and not ended.
    package func withdrawnBroadcasts() async throws -> [NotificationID] {
        try await pool.read { database in
            try Int64.fetchAll(
                database,
                sql: "SELECT id FROM broadcast WHERE withdrawn_at IS NOT NULL AND ended_at IS NULL ORDER BY id"
            ).map(NotificationID.init(rawValue:))
        }
    }

    /// Reads the copies by the payload that they share.
    package func copies(
        of broadcast: NotificationID, after: NotificationID?, limit: Int
    ) async throws -> [BroadcastCopy] {
        try await pool.read { database in
            try Row.fetchAll(
                database.cachedStatement(
                    sql: """
                        SELECT message.id, message.device, message.app, message.environment, message.generation
                        FROM payload_use
                        CROSS JOIN message ON message.id = payload_use.message
                        WHERE payload_use.payload = ? AND payload_use.message > ?
                        ORDER BY payload_use.message LIMIT ?
                        """), arguments: [broadcast.rawValue, after?.rawValue ?? 0, limit]
            ).compactMap { row in
                (row[1] as Int64?).flatMap(DeviceID.init(column:)).map { device in
                    BroadcastCopy(
                        id: NotificationID(rawValue: row[0]), device: device,
                        place: AppPlace(app: AppID(column: row[2]), environment: PushEnvironment(column: row[3])),
                        generation: UInt16(truncatingIfNeeded: row[4] as Int64))
                }
            }
        }
    }

    /// Records that the withdrawal has ended.
    package func endWithdrawnBroadcast(_ id: NotificationID, at now: Timestamp) async throws {
        try await pool.write { database in
            try database.execute(
                sql: "UPDATE broadcast SET ended_at = ? WHERE id = ? AND withdrawn_at IS NOT NULL",
                arguments: [now.rawValue, id.rawValue])
        }
    }

    /// Ends expired broadcasts, in one transaction of bounded length.
    package func endBroadcasts(
        at now: Timestamp, keptSince: Timestamp, countedSince: Timestamp, limit: Int
    ) async throws -> Bool {
        try await pool.write { database in
            let expired = try Int64.fetchAll(
                database,
                sql: """
                    SELECT id FROM broadcast WHERE ended_at IS NULL AND expires_at <= ? AND withdrawn_at IS NULL
                    ORDER BY expires_at LIMIT ?
                    """, arguments: [now.rawValue, limit])
            for id in expired {
                try database.execute(
                    sql: """
                        INSERT INTO expired_broadcast SELECT broadcast_topic.topic, expires_at, id, broadcast.sequence, team,
                            audience, accepted_at, is_attempt, payload.lane
                        FROM broadcast JOIN broadcast_topic ON broadcast = broadcast.id JOIN payload USING (id)
                        WHERE id = ? AND NOT is_attempt;
                        UPDATE broadcast SET ended_at = ? WHERE id = ?;
                        DELETE FROM broadcast_topic WHERE broadcast = ?
                        """, arguments: [id, now.rawValue, id, id])
            }
            try database.execute(
                sql: """
                    DELETE FROM expired_broadcast WHERE (topic, expires_at, id) IN (
                        SELECT topic, expires_at, id FROM expired_broadcast WHERE expires_at < ? LIMIT ?)
                    """, arguments: [countedSince.rawValue, limit])
            let uncounted = database.changesCount == limit
            let old = try Int64.fetchAll(
                database,
                sql: """
                    SELECT id FROM broadcast WHERE id < ? AND ended_at IS NOT NULL AND expires_at < ? AND NOT EXISTS(
                        SELECT 1 FROM payload_use WHERE payload = broadcast.id)
                    ORDER BY id LIMIT ?
                    """,
                arguments: [
                    NotificationIDGenerator(node: 0, highWater: 0).floor(at: keptSince), keptSince.rawValue, limit,
                ])
            for id in old { try database.execute(sql: "DELETE FROM broadcast WHERE id = ?", arguments: [id]) }
            let past = try Self.forgetPast(limit, database)
            return expired.count == limit || uncounted || old.count == limit || past
        }
    }

    /// Deletes the subscriptions that ended before every open broadcast that needs them.
    private static func forgetPast(_ limit: Int, _ database: Database) throws -> Bool {
        let first = try Int64.fetchOne(
            database, sql: "SELECT min(sequence) FROM broadcast WHERE ended_at IS NULL AND looks_back")
        let end = first ?? .max
        let beyond = try Int64.fetchOne(
            database, sql: "SELECT ended FROM past_subscription WHERE ended < ? ORDER BY ended LIMIT 1 OFFSET ?",
            arguments: [end, limit])
        try database.execute(
            sql: "DELETE FROM past_subscription WHERE ended < ?", arguments: [beyond ?? end])
        return beyond != nil
    }

    // MARK: Rows

    /// The next number of the counter of subscriptions, unsubscriptions and broadcasts.
    private static func nextSequence(_ database: Database) throws -> Int64 {
        try Int64.fetchOne(
            database.cachedStatement(
                sql: """
                    INSERT INTO meta(key, value) VALUES('fanout', 1)
                    ON CONFLICT(key) DO UPDATE SET value = value + 1 RETURNING value
                    """)) ?? 1
    }

    private static func place(_ subject: TokenSubject) -> StatementArguments {
        [subject.device.column, subject.app.column, subject.environment.column]
    }

    private static func isActive(_ subject: TokenSubject, _ database: Database) throws -> Bool {
        try Bool.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT EXISTS(SELECT 1 FROM registration
                        WHERE device = ? AND app = ? AND environment = ? AND generation = ? AND ended_at IS NULL)
                    """), arguments: place(subject) + [Int64(subject.generation)]) ?? false
    }

    /// The sequence number with which a subscription began; `nil` when there is none.
    private static func membership(
        _ place: StatementArguments, topic: Int64, database: Database
    ) throws -> Int64? {
        try Int64.fetchOne(
            database.cachedStatement(
                sql: "SELECT joined FROM subscription WHERE device = ? AND app = ? AND environment = ? AND topic = ?"),
            arguments: place + [topic])
    }

    private static func knownNumber(of topic: TopicName, team: TeamID, _ database: Database) throws -> Int64? {
        try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT id FROM topic WHERE team = ? AND name = ?"),
            arguments: [team.rawValue, topic.text])
    }

    private static func number(of topic: TopicName, team: TeamID, _ database: Database) throws -> Int64 {
        if let known = try knownNumber(of: topic, team: team, database) { return known }
        try database.execute(
            sql: "INSERT INTO topic(team, name) VALUES(?, ?)", arguments: [team.rawValue, topic.text])
        return database.lastInsertedRowID
    }
}
