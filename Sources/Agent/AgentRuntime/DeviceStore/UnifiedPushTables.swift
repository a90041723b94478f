import AgentEngine
import Foundation
import GRDB
import PushCore
import WebPushProtocol

/// A request to the server about a channel of UnifiedPush.
package enum PendingChannel: Hashable, Sendable {
    /// A registration needs its endpoint.
    case registration(UnifiedPushRegistration)
    /// A registration has its endpoint, which may have changed before the session of this number.
    case known(UnifiedPushRegistration, session: Int)
    /// The server is to forget a channel.
    case ended(PushChannelID)
}

/// The tables of UnifiedPush: registrations, messages that wait for their apps, and channels that the server is to forget.
///
/// Used within the reading or the transaction that it was made for. Every function throws when the database does.
struct UnifiedPushTables {
    /// How many messages may wait for a registration; with one more, the oldest ends.
    static let mostMessages = 100

    let database: Database

    // MARK: Reading

    func registrations() throws -> [UnifiedPushRegistration] {
        try fetch("1", [])
    }

    /// The first registration that has no endpoint; where there is none, the first channel that the server is to forget.
    func pendingChannel() throws -> PendingChannel? {
        if let registration = try fetch("endpoint IS NULL", [], limit: 1).first { return .registration(registration) }
        return try Data.fetchOne(database.cachedStatement(sql: "SELECT channel FROM ended_channel LIMIT 1"))
            .flatMap(PushChannelID.init(bytes:)).map { .ended($0) }
    }

    /// The first registration that has an endpoint.
    func firstWithEndpoint() throws -> UnifiedPushRegistration? {
        try fetch("endpoint IS NOT NULL", [], limit: 1).first
    }

    /// The number of messages that wait for each registration.
    func waiting() throws -> [String: Int] {
        let rows = try Row.fetchAll(
            database, sql: "SELECT token, count(*) FROM unified_push_message GROUP BY token")
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
    }

    func nextMessage(service: String, at: Timestamp) throws -> UnifiedPushMessage? {
        try Row.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT id, token, body, expires_at IS NULL FROM unified_push_message
                    WHERE service = ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY sequence LIMIT 1
                    """), arguments: [service, at.rawValue]
        ).map { row in
            UnifiedPushMessage(
                id: NotificationID(rawValue: row[0]), token: row[1], service: service, body: Array(row[2] as Data),
                isAttemptedOnce: row[3])
        }
    }

    /// Whether a message waits.
    func contains(_ id: NotificationID) throws -> Bool { try !messages("id = ?", [id.rawValue]).isEmpty }

    func nextExpiry() throws -> Timestamp? {
        try Int64.fetchOne(
            database.cachedStatement(
                sql: "SELECT min(expires_at) FROM unified_push_message WHERE expires_at IS NOT NULL")
        ).map(Timestamp.init(rawValue:))
    }

    private func fetch(
        _ condition: String, _ arguments: StatementArguments, limit: Int = -1
    ) throws -> [UnifiedPushRegistration] {
        try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT token, service, description, vapid, version, channel, endpoint FROM unified_push
                    WHERE \(condition) ORDER BY token LIMIT \(limit)
                    """), arguments: arguments
        ).compactMap { row in
            guard let version = UnifiedPushVersion(rawValue: row[4]), let channel = PushChannelID(bytes: row[5] as Data)
            else { return nil }
            return UnifiedPushRegistration(
                token: row[0], service: row[1], description: row[2], vapid: row[3], version: version, channel: channel,
                endpoint: row[6])
        }
    }

    // MARK: Changes

    /// Makes a change; `report` writes a state into the timeline of a message.
    func apply(
        _ change: UnifiedPushChange, at: Timestamp,
        report: (NotificationID, NotificationState, TimelineSource, _ note: String) throws -> Void
    ) throws -> ChangeResult {
        switch change {
        case .arrived(let arrived): return try store(arrived, at: at, report: report)
        case .registered(let registration, let ended):
            if let ended { try end(ended) }
            return .unifiedPush(.registered(try store(registration)))
        case .endpoint(let endpoint, let token, let channel):
            try execute(
                "UPDATE unified_push SET endpoint = ? WHERE token = ? AND channel = ?",
                [endpoint, token, Data(channel.bytes)])
            return .unifiedPush(database.changesCount == 1 ? .endpoint(endpoint, token: token) : .nothing)
        case .addressChanged(let token):
            try execute("UPDATE unified_push SET endpoint = NULL WHERE token <> ?", [token])
            return .unifiedPush(.nothing)
        case .unregistered(let token, let note):
            guard let registration = try fetch("token = ?", [token]).first else { return .unifiedPush(.nothing) }
            for id in try messages("token = ?", [token]) {
                try remove(id)
                try report(id, .dropped(.unregistered), .agent, note)
            }
            try execute("DELETE FROM unified_push WHERE token = ?", [token])
            try end(registration.channel)
            return .unifiedPush(.unregistered(token: token))
        case .channelEnded(let channel):
            try execute("DELETE FROM ended_channel WHERE channel = ?", [Data(channel.bytes)])
            return .unifiedPush(.channelEnded)
        case .unreachable(let service, let reason):
            for id in try messages("service = ? AND expires_at IS NULL", [service]) {
                try remove(id)
                try report(id, .dropped(.offline), .agent, "\(service): \(reason); it was to be attempted once")
            }
            return .unifiedPush(.nothing)
        case .ended(let id, let service, let state, let note):
            // The app has it even where the message expired or was replaced meanwhile.
            if try remove(id) || state == .handed { try report(id, state, state == .handed ? .app : .agent, note) }
            return .unifiedPush(.ended(service: service))
        }
    }

    /// Ends messages whose time is over.
    func expire(
        at: Timestamp, report: (NotificationID, NotificationState, TimelineSource, _ note: String) throws -> Void
    ) throws {
        for id in try messages("expires_at IS NOT NULL AND expires_at <= ?", [at.rawValue]) {
            try remove(id)
            try report(id, .expired, .agent, "its app did not take it in time")
        }
    }

    /// Removes a message.
    ///
    /// - Returns: Whether it waited.
    @discardableResult func remove(_ id: NotificationID) throws -> Bool {
        try execute("DELETE FROM unified_push_message WHERE id = ?", [id.rawValue])
        return database.changesCount == 1
    }

    /// Stores a registration; an endpoint that is stored for its channel stays.
    ///
    /// - Returns: The registration as it is stored.
    private func store(_ registration: UnifiedPushRegistration) throws -> UnifiedPushRegistration {
        try execute(
            """
            INSERT INTO unified_push (token, service, description, vapid, version, channel)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (token) DO UPDATE SET
                service = ?2, description = ?3, vapid = ?4, version = ?5, channel = ?6,
                endpoint = CASE WHEN channel = ?6 THEN endpoint END
            """,
            [
                registration.token, registration.service, registration.description, registration.vapid,
                registration.version.rawValue, Data(registration.channel.bytes),
            ])
        return try fetch("token = ?", [registration.token]).first ?? registration
    }

    private func store(
        _ arrived: ReceivedUnifiedPushMessage, at: Timestamp,
        report: (NotificationID, NotificationState, TimelineSource, _ note: String) throws -> Void
    ) throws -> ChangeResult {
        let (carrier, envelope) = (arrived.carrier, arrived.message.envelope)
        let ended = ChangeResult.pushMessageStored(carrier.id, service: nil, session: arrived.session)
        try execute("INSERT OR IGNORE INTO unconfirmed (id) VALUES (?)", [carrier.id.rawValue])
        guard database.changesCount == 1 else { return ended }
        let channel = Data(arrived.message.channel.bytes)
        guard let registration = try fetch("channel = ?", [channel]).first else {
            try report(carrier.id, .dropped(.unregistered), .agent, "no app on the device has this subscription")
            return ended
        }
        guard !envelope.body.isEmpty else {
            try report(
                carrier.id, .failed("noContent"), .agent, "apps of UnifiedPush receive messages with content alone")
            return ended
        }
        guard ["aes128gcm", WebPushEnvelope.plain].contains(envelope.contentEncoding) else {
            try report(
                carrier.id, .failed("badEncoding"), .agent,
                "apps of UnifiedPush receive messages with content encoding aes128gcm (RFC 8291), or of a gateway")
            return ended
        }
        if let topic = carrier.collapseID {
            for id in try messages("token = ? AND topic = ?", [registration.token, topic]) {
                try remove(id)
                try report(id, .replaced, .agent, "by a message of the same topic")
            }
        }
        for id in try messages("token = ?", [registration.token]).dropLast(Self.mostMessages - 1) {
            try remove(id)
            try report(
                id, .dropped(.overflow), .agent, "\(Self.mostMessages) newer messages wait for \(registration.service)")
        }
        try execute(
            """
            INSERT INTO unified_push_message (id, token, service, topic, body, received_at, expires_at)
            VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
            """,
            [
                carrier.id.rawValue, registration.token, registration.service, carrier.collapseID, Data(envelope.body),
                at.rawValue, carrier.expiresAt?.rawValue,
            ])
        return .pushMessageStored(carrier.id, service: registration.service, session: arrived.session)
    }

    private func end(_ channel: PushChannelID) throws {
        try execute("INSERT OR IGNORE INTO ended_channel (channel) VALUES (?)", [Data(channel.bytes)])
    }

    private func messages(_ condition: String, _ arguments: StatementArguments) throws -> [NotificationID] {
        try Int64.fetchAll(
            database.cachedStatement(
                sql: "SELECT id FROM unified_push_message WHERE \(condition) ORDER BY sequence"), arguments: arguments
        ).map(NotificationID.init(rawValue:))
    }

    private func execute(_ sql: String, _ arguments: StatementArguments) throws {
        try database.cachedStatement(sql: sql).execute(arguments: arguments)
    }
}
