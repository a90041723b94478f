import Foundation
import GRDB
import Mailbox
import PushModel
import ServerCore

/// What a batch has to know. Each thing is found by its key.
extension SQLiteStore {
    /// Reads all of it in one transaction on the writer's connection.
    public func prefetch(_ request: PrefetchRequest) throws -> Prefetched {
        guard !request.isEmpty else { return Prefetched() }
        // On the writer's connection, whose pages are in memory: a reader reads all of them again after each commit.
        return try pool.writeWithoutTransaction { database in
            var found = Prefetched()
            try database.inTransaction(.deferred) {
                found.identities = try Self.identities(request, database)
                found.waiting = try Self.waiting(request.mailboxes, database)
                found.notifications = try Self.facts(request.notifications, database)
                found.secretHashes = try Self.secretHashes(request.secretHashes, database)
                return .commit
            }
            return found
        }
    }

    private static func identities(
        _ request: PrefetchRequest, _ database: Database
    ) throws -> [NotificationIdentity: NotificationID] {
        guard !request.identities.isEmpty else { return [:] }
        let statement = try database.cachedStatement(
            sql: """
                SELECT identity.id FROM identity JOIN message ON message.id = identity.id
                WHERE identity.apns_id = ? AND identity.device = ? AND identity.app = ? AND identity.environment = ?
                    AND message.generation = ? AND message.accepted_at >= ? AND message.expires_at IS NOT NULL
                ORDER BY identity.id DESC LIMIT 1
                """)
        var found: [NotificationIdentity: NotificationID] = [:]
        for identity in request.identities {
            let subject = identity.subject
            let id = try Int64.fetchOne(
                statement,
                arguments: [
                    identity.apnsID, subject.device.column, subject.app.column, subject.environment.column,
                    Int64(subject.generation), request.acceptedSince.rawValue,
                ])
            found[identity] = id.map(NotificationID.init(rawValue:))
        }
        return found
    }

    private static func waiting(
        _ devices: Set<DeviceID>, _ database: Database
    ) throws -> [DeviceID: [Mailbox.Entry]] {
        guard !devices.isEmpty else { return [:] }
        let statement = try database.cachedStatement(
            sql: "SELECT id, app, environment, lane, expires_at, collapse_id FROM pending WHERE device = ? ORDER BY id")
        var found: [DeviceID: [Mailbox.Entry]] = [:]
        for device in devices {
            let rows = try Row.fetchAll(statement, arguments: [device.column])
            guard !rows.isEmpty else { continue }
            found[device] = rows.map { row in
                Mailbox.Entry(
                    id: NotificationID(rawValue: row[0]), app: AppID(column: row[1]),
                    environment: PushEnvironment(column: row[2]), lane: Lane(rawValue: row[3]) ?? .apns,
                    collapseID: row[5], expiresAt: Timestamp(rawValue: row[4]))
            }
        }
        return found
    }

    private static func facts(
        _ ids: Set<NotificationID>, _ database: Database
    ) throws -> [NotificationID: NotificationFacts] {
        guard !ids.isEmpty else { return [:] }
        let statement = try database.cachedStatement(sql: "SELECT device FROM message WHERE id = ?")
        var found: [NotificationID: NotificationFacts] = [:]
        for id in ids {
            // A refused request is of no device.
            let column = try Int64?.fetchOne(statement, arguments: [id.rawValue]).flatMap { $0 }
            guard let device = column.flatMap(DeviceID.init(column:)) else { continue }
            found[id] = NotificationFacts(device: device, lines: try lines(of: id, database))
        }
        return found
    }

    /// The lines that were appended to a timeline, by time.
    static func lines(of id: NotificationID, _ database: Database) throws -> [TimelineEntry] {
        let statement = try database.cachedStatement(
            sql: "SELECT at, state, source, note FROM timeline WHERE id = ? ORDER BY at")
        return try Row.fetchAll(statement, arguments: [id.rawValue]).compactMap { row in
            NotificationState(text: row[1] as String).map { state in
                TimelineEntry(
                    at: Timestamp(rawValue: row[0]), state: state, source: TimelineSource(rawValue: row[2]) ?? .server,
                    note: row[3])
            }
        }
    }

    private static func secretHashes(
        _ devices: Set<DeviceID>, _ database: Database
    ) throws -> [DeviceID: [UInt8]] {
        guard !devices.isEmpty else { return [:] }
        let statement = try database.cachedStatement(
            sql: "SELECT secret_hash FROM device WHERE id = ? AND revoked_at IS NULL")
        var found: [DeviceID: [UInt8]] = [:]
        for device in devices {
            found[device] = try Data.fetchOne(statement, arguments: [device.column]).map { Array($0) }
        }
        return found
    }
}
