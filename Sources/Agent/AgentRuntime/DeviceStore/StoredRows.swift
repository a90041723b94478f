import AgentEngine
import AgentProtocol
import Foundation
import GRDB
import PushCore
import Scheduling

extension WaitingNotification {
    static func fetch(
        _ database: Database, condition: String, arguments: StatementArguments, limit: Int?
    ) throws -> [WaitingNotification] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT sequence, id, app, apns_id, identifier, payload, accepted_at, handle, content, trigger, shows,
                    attempts, push_type
                FROM notification AS n WHERE \(condition) ORDER BY sequence\(limit.map { " LIMIT \($0)" } ?? "")
                """)
        return try Row.fetchAll(statement, arguments: arguments).map(WaitingNotification.init)
    }

    private init(_ row: Row) {
        self.init(
            sequence: row[0], id: NotificationID(rawValue: row[1]), app: row[2], apnsID: row[3], identifier: row[4],
            payload: String(decoding: row[5] as Data, as: UTF8.self), acceptedAt: Timestamp(rawValue: row[6]),
            content: JSONText.read(row[8]), pushType: (row[12] as String?).flatMap(PushType.init))
        handle = row[7]
        trigger = JSONText.read(row[9])
        shows = PresentationOptions(rawValue: row[10])
        attempts = row[11]
    }
}

extension PendingRequest {
    static func fetch(
        _ database: Database, condition: String, arguments: StatementArguments = []
    ) throws -> [PendingRequest] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT key, app, request, added_at, boot, since_boot, last_fired, side, fired, zone_offset FROM pending
                WHERE \(condition)
                """)
        return try Row.fetchAll(statement, arguments: arguments).compactMap(PendingRequest.init)
    }

    /// The boot id for rows of a version that did not store one; no boot has this id.
    private static let unknownBoot = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// `nil` for a row whose request cannot be read, as another version may have written it.
    private init?(_ row: Row) {
        guard let text = row[2] as String?, let request = try? NotificationRequest(json: Array(text.utf8)) else {
            return nil
        }
        let boot: String? = row[4]
        let lastFired: Int64? = row[6]
        self.init(
            key: row[0], app: row[1], request: request,
            added: ClockReading(
                wall: Timestamp(rawValue: row[3]), boot: boot.flatMap(UUID.init(uuidString:)) ?? Self.unknownBoot,
                sinceBoot: row[5]),
            lastFired: lastFired.map(Timestamp.init(rawValue:)),
            side: RegionWatch.State(rawValue: row[7]) ?? .unknown)
        fired = row[8]
        addedOffset = row[9]
    }
}
