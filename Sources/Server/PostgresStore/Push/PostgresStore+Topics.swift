import PushCore
import PushServer

extension PostgresStore: TopicStore {
    /// Subscribes active registrations, in one transaction with concurrent requests.
    package func subscribe(
        _ members: [TopicMember], to topic: TopicName, limit: Int, at now: Timestamp
    ) async throws -> [SubscriptionOutcome] {
        try await grouped.write { connection in
            let joined = try Self.nextSequence(connection)
            var numbers: [TeamID: Int64] = [:]
            return try members.map { member in
                let subject = member.subject
                let active = try connection.run(
                    """
                    SELECT 1 FROM registration WHERE device = $1 AND app = $2 AND environment = $3 AND generation = $4
                        AND ended_at IS NULL
                    """, subject.device, subject.app, subject.environment, subject.generation)
                guard !active.isEmpty else { return .ended }
                let number = try numbers[member.team] ?? Self.number(of: topic, team: member.team, connection)
                numbers[member.team] = number
                if try Self.membership(subject, topic: number, connection) != nil { return .known }
                let count: Int? = try connection.run(
                    "SELECT count(*) FROM subscription WHERE device = $1 AND app = $2 AND environment = $3",
                    subject.device, subject.app, subject.environment
                ).first?[0]
                guard count ?? 0 < limit else { return .tooManyTopics }
                try connection.run(
                    """
                    INSERT INTO subscription(device, app, environment, topic, generation, joined, subscribed_at)
                    VALUES($1, $2, $3, $4, $5, $6, $7)
                    """, subject.device, subject.app, subject.environment, number, subject.generation, joined, now)
                return .subscribed
            }
        }
    }

    /// Ends subscriptions in one transaction. Rows that a broadcast needs later are kept.
    package func unsubscribe(_ members: [TopicMember], from topic: TopicName) async throws -> [Bool] {
        try await grouped.write { connection in
            let left = try Self.nextSequence(connection)
            return try members.map { member in
                let subject = member.subject
                guard let number = try Self.knownNumber(of: topic, team: member.team, connection),
                    let joined = try Self.membership(subject, topic: number, connection)
                else { return false }
                try connection.run(
                    """
                    INSERT INTO past_subscription(device, app, environment, topic, generation, joined, ended)
                    SELECT device, app, environment, topic, generation, joined, $5 FROM subscription
                    WHERE device = $1 AND app = $2 AND environment = $3 AND topic = $4 AND EXISTS(
                        SELECT 1 FROM broadcast WHERE ended_at IS NULL AND looks_back AND sequence > $6)
                    """, subject.device, subject.app, subject.environment, number, left, joined)
                try connection.run(
                    "DELETE FROM subscription WHERE device = $1 AND app = $2 AND environment = $3 AND topic = $4",
                    subject.device, subject.app, subject.environment, number)
                return true
            }
        }
    }

    /// The subscriptions of a registration, by name.
    package func subscriptions(of subject: TokenSubject) async throws -> [TopicSubscription] {
        try await pool.read { connection in
            try connection.run(
                """
                SELECT topic.name, subscription.subscribed_at FROM subscription
                JOIN topic ON topic.id = subscription.topic
                WHERE subscription.device = $1 AND subscription.app = $2 AND subscription.environment = $3
                    AND subscription.generation = $4 ORDER BY topic.name
                """, subject.device, subject.app, subject.environment, subject.generation
            ).compactMap { row in
                // A name that this version does not accept is left out.
                guard let name = try? TopicName(try row[0] as String) else { return nil }
                return TopicSubscription(topic: name, since: try row[1])
            }
        }
    }

    /// Stores the payload, the broadcast, and one row for each of its topics.
    package func insertBroadcast(_ draft: BroadcastDraft) async throws -> Broadcast {
        try await pool.write { connection in
            // The counter's row is locked until the end, so that a name is given once.
            let sequence = try Self.nextSequence(connection)
            if let name = draft.name,
                let known = try connection.run("SELECT * FROM broadcast WHERE name = $1", name).first
                    .flatMap({ try Broadcast($0) })
            {
                return known
            }
            var numbers: [TopicName: TopicNumber] = [:]
            for topic in draft.target.topics {
                numbers[topic] = try Self.knownNumber(of: topic, team: draft.team, connection)
                    .map(TopicNumber.init(rawValue:))
            }
            let audience = draft.target.audience { numbers[$0] }
            try connection.run(
                "INSERT INTO payload(id, lane, content, checked_at) VALUES($1, $2, $3, $4)", draft.id,
                draft.content.lane,
                draft.content.bytes, draft.acceptedAt)
            try connection.run(
                """
                INSERT INTO broadcast(id, sequence, team, name, audience, written, push_type, priority, collapse_id,
                    accepted_at, expires_at, is_attempt, looks_back)
                VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
                """, draft.id, sequence, draft.team, draft.name, audience.text, draft.written, draft.pushType?.rawValue,
                draft.priority, draft.collapseID, draft.acceptedAt, draft.expiresAt, draft.isAttempt,
                audience.dependsOnLeaving)
            for topic in audience.entries {
                try connection.run(
                    "INSERT INTO broadcast_topic(topic, sequence, broadcast) VALUES($1, $2, $3)", topic, sequence,
                    draft.id)
            }
            return Broadcast(
                id: draft.id, sequence: sequence, team: draft.team, audience: audience, acceptedAt: draft.acceptedAt,
                expiresAt: draft.expiresAt, isAttempt: draft.isAttempt)
        }
    }

    /// Removes the broadcast from its topics.
    package func withdrawBroadcast(_ id: NotificationID, at now: Timestamp) async throws -> Bool {
        try await pool.write { connection in
            // An expired broadcast may still have copies that are queued or shown.
            let withdrawn = try connection.run(
                "UPDATE broadcast SET withdrawn_at = $2, ended_at = NULL WHERE id = $1 AND withdrawn_at IS NULL", id,
                now)
            guard withdrawn.changed == 1 else { return false }
            try connection.run("DELETE FROM broadcast_topic WHERE broadcast = $1", id)
            return true
        }
    }

    /// The broadcasts whose withdrawal has begun and not ended.
    package func withdrawnBroadcasts() async throws -> [NotificationID] {
        try await pool.read { connection in
            try connection.run(
                "SELECT id FROM broadcast WHERE withdrawn_at IS NOT NULL AND ended_at IS NULL ORDER BY id"
            ).map { try $0[0] }
        }
    }

    /// Reads the copies by the payload that they share.
    package func copies(
        of broadcast: NotificationID, after: NotificationID?, limit: Int
    ) async throws -> [BroadcastCopy] {
        try await pool.read { connection in
            try connection.run(
                """
                SELECT message.id, message.device, message.app, message.environment, message.generation
                FROM payload_use JOIN message ON message.id = payload_use.message
                WHERE payload_use.payload = $1 AND payload_use.message > $2 AND message.device IS NOT NULL
                ORDER BY payload_use.message LIMIT $3
                """, broadcast, after?.rawValue ?? 0, limit
            ).map {
                BroadcastCopy(
                    id: try $0[0], device: try $0[1], place: AppPlace(app: try $0[2], environment: try $0[3]),
                    generation: try $0[4])
            }
        }
    }

    /// Records that the withdrawal has ended.
    package func endWithdrawnBroadcast(_ id: NotificationID, at now: Timestamp) async throws {
        try await pool.write { connection in
            _ = try connection.run(
                "UPDATE broadcast SET ended_at = $2 WHERE id = $1 AND withdrawn_at IS NOT NULL", id, now)
        }
    }

    /// Ends expired broadcasts, in one transaction of bounded length.
    package func endBroadcasts(
        at now: Timestamp, keptSince: Timestamp, countedSince: Timestamp, limit: Int
    ) async throws -> Bool {
        try await pool.write { connection in
            let expired: [NotificationID] = try connection.run(
                """
                SELECT id FROM broadcast WHERE ended_at IS NULL AND expires_at <= $1 AND withdrawn_at IS NULL
                ORDER BY expires_at LIMIT $2
                """, now, limit
            ).map { try $0[0] }
            try Self.end(expired, at: now, connection)
            let uncounted = try connection.run(
                """
                DELETE FROM expired_broadcast WHERE (topic, expires_at, id) IN (
                    SELECT topic, expires_at, id FROM expired_broadcast WHERE expires_at < $1 LIMIT $2)
                """, countedSince, limit
            ).changed
            let old = try connection.run(
                """
                DELETE FROM broadcast WHERE id IN (
                    SELECT id FROM broadcast WHERE id < $1 AND ended_at IS NOT NULL AND expires_at < $2 AND NOT EXISTS(
                        SELECT 1 FROM payload_use WHERE payload = broadcast.id) ORDER BY id LIMIT $3)
                """, NotificationIDGenerator(node: 0, highWater: 0).floor(at: keptSince), keptSince, limit
            ).changed
            let past = try Self.forgetPast(limit, connection)
            return expired.count == limit || uncounted == limit || old == limit || past
        }
    }

    private static func end(_ expired: [NotificationID], at now: Timestamp, _ connection: PostgresConnection) throws {
        guard !expired.isEmpty else { return }
        let ids = PostgresParameter.ids(expired)
        _ = try connection.pipeline([
            .init(
                """
                INSERT INTO expired_broadcast SELECT broadcast_topic.topic, expires_at, broadcast.id, broadcast.sequence, team,
                    audience, accepted_at, is_attempt, payload.lane
                FROM broadcast JOIN broadcast_topic ON broadcast_topic.broadcast = broadcast.id
                    JOIN payload ON payload.id = broadcast.id
                WHERE broadcast.id = ANY($1::bigint[]) AND NOT is_attempt
                """, [ids]),
            .init(
                "UPDATE broadcast SET ended_at = $2 WHERE id = ANY($1::bigint[])", [ids, PostgresParameter(now)]),
            .init("DELETE FROM broadcast_topic WHERE broadcast = ANY($1::bigint[])", [ids]),
        ])
    }

    /// Deletes the subscriptions that ended before every open broadcast that needs them.
    private static func forgetPast(_ limit: Int, _ connection: PostgresConnection) throws -> Bool {
        let first: Int64? = try connection.run(
            "SELECT min(sequence) FROM broadcast WHERE ended_at IS NULL AND looks_back"
        ).first?[0]
        let end = first ?? .max
        let beyond: Int64? = try connection.run(
            "SELECT ended FROM past_subscription WHERE ended < $1 ORDER BY ended LIMIT 1 OFFSET $2", end, limit
        ).first?[0]
        try connection.run("DELETE FROM past_subscription WHERE ended < $1", beyond ?? end)
        return beyond != nil
    }

    /// The next number of the counter of subscriptions, unsubscriptions and broadcasts.
    private static func nextSequence(_ connection: PostgresConnection) throws -> Int64 {
        try connection.run("UPDATE meta SET value = value + 1 WHERE key = 'fanout' RETURNING value")[0][0]
    }

    /// The sequence number with which a subscription began; `nil` when there is none.
    private static func membership(
        _ subject: TokenSubject, topic: Int64, _ connection: PostgresConnection
    ) throws -> Int64? {
        try connection.run(
            "SELECT joined FROM subscription WHERE device = $1 AND app = $2 AND environment = $3 AND topic = $4",
            subject.device, subject.app, subject.environment, topic
        ).first?[0]
    }

    private static func knownNumber(
        of topic: TopicName, team: TeamID, _ connection: PostgresConnection
    ) throws -> Int64? {
        try connection.run("SELECT id FROM topic WHERE team = $1 AND name = $2", team, topic.text).first?[0]
    }

    private static func number(of topic: TopicName, team: TeamID, _ connection: PostgresConnection) throws -> Int64 {
        if let known = try knownNumber(of: topic, team: team, connection) { return known }
        return try connection.run("INSERT INTO topic(team, name) VALUES($1, $2) RETURNING id", team, topic.text)[0][0]
    }
}
