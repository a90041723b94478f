import GRDB
import PushCore

/// The notices for devices: tombstones and recalls.
struct DeviceNotices {
    let database: Database

    /// The notices for a device after an id, in no order, among them the first `limit`.
    func page(for device: DeviceID, after: NotificationID?, limit: Int) throws -> [OutgoingNotification] {
        let arguments: StatementArguments = [device.column, after?.rawValue ?? 0, limit]
        return try deletions(arguments) + withdrawals(arguments)
    }

    private func deletions(_ arguments: StatementArguments) throws -> [OutgoingNotification] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT tombstone.id, app.team, app.topic, tombstone.environment, tombstone.lane, tombstone.count,
                    tombstone.since
                FROM tombstone JOIN app ON app.id = tombstone.app
                WHERE tombstone.device = ? AND tombstone.id > ? AND app.removed_at IS NULL
                ORDER BY tombstone.id LIMIT ?
                """)
        return try Row.fetchAll(statement, arguments: arguments).map { row in
            let since = Timestamp(rawValue: row[6])
            return Self.outgoing(row, .deleted(count: row[5], since: since), at: since)
        }
    }

    private func withdrawals(_ arguments: StatementArguments) throws -> [OutgoingNotification] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT recall.id, app.team, app.topic, message.environment, message.lane, recall.message, recall.at
                FROM recall JOIN message ON message.id = recall.message JOIN app ON app.id = message.app
                WHERE recall.device = ? AND recall.id > ? AND app.removed_at IS NULL
                ORDER BY recall.id LIMIT ?
                """)
        return try Row.fetchAll(statement, arguments: arguments).map { row in
            Self.outgoing(
                row, .withdrawn(NotificationID(rawValue: row[5])), at: Timestamp(rawValue: row[6]))
        }
    }

    private static func outgoing(_ row: Row, _ notice: DeviceNotice, at: Timestamp) -> OutgoingNotification {
        OutgoingNotification(
            notice, id: NotificationID(rawValue: row[0]), team: TeamID(rawValue: row[1]),
            topic: Topic(rawValue: row[2]), environment: PushEnvironment(column: row[3]),
            lane: Lane(rawValue: row[4]) ?? .apns, at: at)
    }
}
