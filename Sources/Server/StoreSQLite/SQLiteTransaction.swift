import Foundation
import GRDB
import Mailbox
import PushModel
import ServerCore

/// One transaction of the writer.
struct SQLiteTransaction: NotificationTransaction {
    let database: Database
    let hot: WriterStatements.Prepared

    func identity(apnsID: String, subject: TokenSubject, since: Timestamp) throws -> NotificationID? {
        let statement = try database.cachedStatement(
            sql: """
                SELECT identity.id FROM identity JOIN message ON message.id = identity.id
                WHERE identity.apns_id = ? AND identity.device = ? AND identity.app = ? AND identity.environment = ?
                    AND message.generation = ? AND message.accepted_at >= ? AND message.expires_at IS NOT NULL
                ORDER BY identity.id DESC LIMIT 1
                """)
        let id = try Int64.fetchOne(
            statement,
            arguments: [
                apnsID.lowercased(), subject.device.column, subject.app.column, subject.environment.column,
                Int64(subject.generation), since.rawValue,
            ])
        return id.map(NotificationID.init(rawValue:))
    }

    func insert(_ record: NotificationRecord) throws {
        let message = hot.message
        message.bind(record.id.rawValue)
        message.bind(record.subject.app.column)
        message.bind(record.subject.device.column)
        message.bind(record.subject.environment.column)
        message.bind(Int64(record.subject.generation))
        message.bind(Int64(record.lane.rawValue))
        message.bind(record.apnsID)
        message.bind(record.pushType?.rawValue)
        message.bind(Int64(record.priority.rawValue))
        message.bind(record.collapseID)
        message.bind(record.acceptedAt.rawValue)
        message.bind(record.expiresAt?.rawValue)
        message.bind(record.waits ? 1 : 0)
        message.bind(record.payload)
        try message.run()
        if let apnsID = record.apnsID {
            try insertIdentity(
                apnsID, device: record.expiresAt == nil ? Self.nobody : record.subject.device.column,
                app: record.subject.app.column,
                environment: record.subject.environment.column, id: record.id)
        }
        guard record.waits, let expiresAt = record.expiresAt else { return }
        let pending = hot.pending
        pending.bind(record.subject.device.column)
        pending.bind(record.id.rawValue)
        pending.bind(record.id.rawValue)
        pending.bind(record.subject.app.column)
        pending.bind(record.subject.environment.column)
        pending.bind(Int64(record.lane.rawValue))
        pending.bind(expiresAt.rawValue)
        pending.bind(record.collapseID)
        try pending.run()
    }

    /// Identities of single attempts are those of no device: an `apns-id` of theirs may come again, any number of
    /// times, and only timelines are found by it.
    static let nobody: Int64 = 0

    private func insertIdentity(
        _ apnsID: String, device: Int64, app: Int64, environment: Int64, id: NotificationID
    ) throws {
        let identity = hot.identity
        identity.bind(apnsID.lowercased())
        identity.bind(device)
        identity.bind(app)
        identity.bind(environment)
        identity.bind(id.rawValue)
        try identity.run()
    }

    func insert(_ refusal: RefusalRecord) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO message(id, lane, apns_id, priority, accepted_at, stored, team, topic, code, note)
                VALUES(?, 0, ?, 10, ?, 0, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            refusal.id.rawValue, refusal.apnsID, refusal.at.rawValue, refusal.team.rawValue, refusal.topic,
            refusal.code, refusal.note,
        ])
        if let apnsID = refusal.apnsID {
            try database.cachedStatement(sql: "INSERT INTO refusal(apns_id, team, id) VALUES(?, ?, ?)")
                .execute(arguments: [apnsID.lowercased(), refusal.team.rawValue, refusal.id.rawValue])
        }
    }

    func removeWaiting(_ id: NotificationID, of device: DeviceID) throws {
        hot.removePending.bind(device.column)
        hot.removePending.bind(id.rawValue)
        try hot.removePending.run()
    }

    func append(_ entry: TimelineEntry, to id: NotificationID) throws {
        hot.timeline.bind(id.rawValue)
        hot.timeline.bind(entry.at.rawValue)
        hot.timeline.bind(entry.state.text)
        hot.timeline.bind(entry.source.rawValue)
        hot.timeline.bind(entry.note)
        try hot.timeline.run()
    }

    func waiting(for device: DeviceID) throws -> [Mailbox.Entry] {
        let statement = try database.cachedStatement(
            sql: "SELECT id, app, environment, lane, expires_at, collapse_id FROM pending WHERE device = ? ORDER BY id")
        return try Row.fetchAll(statement, arguments: [device.column]).map { row in
            Mailbox.Entry(
                id: NotificationID(rawValue: row[0]), app: AppID(column: row[1]),
                environment: PushEnvironment(column: row[2]), lane: Lane(rawValue: row[3]) ?? .apns,
                collapseID: row[5], expiresAt: Timestamp(rawValue: row[4]))
        }
    }

    func device(of id: NotificationID) throws -> DeviceID? {
        let statement = try database.cachedStatement(sql: "SELECT device FROM message WHERE id = ?")
        return try Int64?.fetchOne(statement, arguments: [id.rawValue]).flatMap { $0 }.flatMap(DeviceID.init(column:))
    }

    func has(_ state: NotificationState, in id: NotificationID) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: "SELECT EXISTS(SELECT 1 FROM timeline WHERE id = ? AND state = ?)")
        return try Bool.fetchOne(statement, arguments: [id.rawValue, state.text]) ?? false
    }

    func lineCount(of id: NotificationID) throws -> Int {
        let statement = try database.cachedStatement(sql: "SELECT count(*) FROM timeline WHERE id = ?")
        return try Int.fetchOne(statement, arguments: [id.rawValue]) ?? 0
    }

    func secretHash(of device: DeviceID) throws -> [UInt8]? {
        let statement = try database.cachedStatement(
            sql: "SELECT secret_hash FROM device WHERE id = ? AND revoked_at IS NULL")
        return try Data.fetchOne(statement, arguments: [device.column]).map { Array($0) }
    }

    func raiseHighWater(to ceiling: Int64) throws {
        try database.execute(
            sql: """
                INSERT INTO meta(key, value) VALUES('high_water', ?)
                ON CONFLICT(key) DO UPDATE SET value = max(value, excluded.value)
                """, arguments: [ceiling])
    }

    func noteUnrecorded(team: TeamID, from first: NotificationID, to last: NotificationID, count: Int) throws {
        try database.execute(
            sql: """
                INSERT INTO unrecorded(team, first, last, count) VALUES(?, ?, ?, ?)
                ON CONFLICT(team, first) DO UPDATE SET last = max(last, excluded.last), count = count + excluded.count
                """, arguments: [team.rawValue, first.rawValue, last.rawValue, count])
    }
}

extension DeviceID {
    var column: Int64 { Int64(rawValue) }
    init?(column: Int64) {
        guard column > 0 else { return nil }
        self.init(UInt64(column))
    }
}

extension AppID {
    var column: Int64 { Int64(rawValue) }
    init(column: Int64) { self.init(rawValue: UInt32(truncatingIfNeeded: column)) }
}

extension PushEnvironment {
    var column: Int64 { self == .production ? 1 : 0 }
    init(column: Int64) { self = column == 1 ? .production : .sandbox }
}
