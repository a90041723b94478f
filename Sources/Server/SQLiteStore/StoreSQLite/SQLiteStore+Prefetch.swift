import Foundation
import GRDB
import PushCore
import PushServer

/// The rows that a batch needs. Each is found by its key.
extension SQLiteStore {
    /// Reads all rows in one transaction on the writer's connection.
    package func prefetch(_ request: PrefetchRequest) throws -> Prefetched {
        guard !request.isEmpty else { return Prefetched() }
        // The writer's connection has the pages in memory: a reader would read all of them again after each commit.
        return try pool.writeWithoutTransaction { database in
            var found = Prefetched()
            try database.inTransaction(.deferred) {
                found.identities = try Self.identities(request, database)
                found.waiting = try Self.waiting(request.mailboxes, database)
                found.tombstones = try Self.tombstones(request.mailboxes, database)
                found.recalls = try Self.recalls(request.mailboxes, database)
                found.notifications = try Self.facts(request.notifications, database)
                try Self.readDevices(request.secretHashes, into: &found, database)
                try AudienceReader(database: database).read(
                    request.audiences, known: request.known, into: &found)
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

    private static func tombstones(
        _ devices: Set<DeviceID>, _ database: Database
    ) throws -> [DeviceID: [Mailbox.Tombstone]] {
        guard !devices.isEmpty else { return [:] }
        let statement = try database.cachedStatement(
            sql: "SELECT id, app, environment, lane, count, since FROM tombstone WHERE device = ? ORDER BY id")
        var found: [DeviceID: [Mailbox.Tombstone]] = [:]
        for device in devices {
            let rows = try Row.fetchAll(statement, arguments: [device.column])
            guard !rows.isEmpty else { continue }
            found[device] = rows.map { row in
                Mailbox.Tombstone(
                    id: NotificationID(rawValue: row[0]), app: AppID(column: row[1]),
                    environment: PushEnvironment(column: row[2]), lane: Lane(rawValue: row[3]) ?? .apns, count: row[4],
                    since: Timestamp(rawValue: row[5]))
            }
        }
        return found
    }

    private static func recalls(
        _ devices: Set<DeviceID>, _ database: Database
    ) throws -> [DeviceID: [Mailbox.Recall]] {
        guard !devices.isEmpty else { return [:] }
        let statement = try database.cachedStatement(
            sql: "SELECT id, message, at FROM recall WHERE device = ? ORDER BY id")
        var found: [DeviceID: [Mailbox.Recall]] = [:]
        for device in devices {
            let rows = try Row.fetchAll(statement, arguments: [device.column])
            guard !rows.isEmpty else { continue }
            found[device] = rows.map { row in
                Mailbox.Recall(
                    id: NotificationID(rawValue: row[0]), notification: NotificationID(rawValue: row[1]),
                    at: Timestamp(rawValue: row[2]))
            }
        }
        return found
    }

    private static func facts(
        _ ids: Set<NotificationID>, _ database: Database
    ) throws -> [NotificationID: NotificationFacts] {
        guard !ids.isEmpty else { return [:] }
        let statement = try database.cachedStatement(sql: "SELECT device, app FROM message WHERE id = ?")
        var found: [NotificationID: NotificationFacts] = [:]
        for id in ids {
            // A refused request has no device.
            guard let row = try Row.fetchOne(statement, arguments: [id.rawValue]),
                let device = (row[0] as Int64?).flatMap(DeviceID.init(column:))
            else { continue }
            found[id] = NotificationFacts(
                device: device, app: (row[1] as Int64?).map(AppID.init(column:)), lines: try lines(of: id, database))
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

    /// Reads the hashes of devices' secrets, and the times at which their presence was recorded.
    private static func readDevices(
        _ devices: Set<DeviceID>, into found: inout Prefetched, _ database: Database
    ) throws {
        guard !devices.isEmpty else { return }
        let statement = try database.cachedStatement(
            sql: """
                SELECT secret_hash, coalesce(seen_at, enrolled_at), blocked_at IS NOT NULL FROM device
                WHERE id = ? AND revoked_at IS NULL
                """)
        for device in devices {
            guard let row = try Row.fetchOne(statement, arguments: [device.column]) else { continue }
            found.secretHashes[device] = Array(row[0] as Data)
            found.lastSeen[device] = Timestamp(rawValue: row[1])
            if row[2] { found.blocked.insert(device) }
        }
    }
}
