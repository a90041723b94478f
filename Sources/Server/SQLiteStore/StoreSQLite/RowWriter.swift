import Foundation
import GRDB
import PushCore
import PushServer

/// Applies row changes one after the other, in the writer's transaction.
struct RowWriter {
    let database: Database
    let hot: WriterStatements.Prepared

    func apply(_ change: RowChange) throws {
        switch change {
        case .insertPayload(let payload): try insert(payload)
        case .insertNotification(let record): try insert(record)
        case .insertRefusal(let refusal): try insert(refusal)
        case .removeWaiting(let id, let device): try removeWaiting(id, of: device)
        case .keepTombstone(let tombstone, let device): try keep(tombstone, of: device)
        case .removeTombstone(let id, let device):
            try database.cachedStatement(sql: "DELETE FROM tombstone WHERE device = ? AND id = ?")
                .execute(arguments: [device.column, id.rawValue])
        case .insertRecall(let recall, let device):
            try database.cachedStatement(sql: "INSERT INTO recall(device, id, message, at) VALUES(?, ?, ?, ?)")
                .execute(arguments: [
                    device.column, recall.id.rawValue, recall.notification.rawValue, recall.at.rawValue,
                ])
        case .removeRecall(let id, let device):
            try database.cachedStatement(sql: "DELETE FROM recall WHERE device = ? AND id = ?")
                .execute(arguments: [device.column, id.rawValue])
        case .addMissed(let missed, let device): try add(missed, of: device)
        case .forgetMissed(let device, let place): try forgetMissed(of: device, only: place)
        case .noteSeen(let device, let at):
            try database.cachedStatement(sql: "UPDATE device SET seen_at = ? WHERE id = ?")
                .execute(arguments: [at.rawValue, device.column])
        case .appendLine(let entry, let id): try append(entry, to: id)
        case .moveCursor(let device, let sequence):
            hot.cursor.bind(device.column)
            hot.cursor.bind(sequence)
            try hot.cursor.run()
        // One process uses the file: its sessions are in memory.
        case .openSession, .closeSession: break
        case .raiseHighWater(let ceiling): try raiseHighWater(to: ceiling)
        case .noteUnrecorded(let span): try insert(span)
        }
    }

    /// Records in one row which notifications the changes concern.
    func noteForReports(_ changes: [RowChange]) throws {
        var ids: [UInt8] = []
        var last: NotificationID?
        for change in changes {
            let id: NotificationID
            switch change {
            case .insertNotification(let record): id = record.id
            case .appendLine(_, let of): id = of
            default: continue
            }
            guard id != last else { continue }
            last = id
            withUnsafeBytes(of: id.rawValue.littleEndian) { ids.append(contentsOf: $0) }
        }
        guard !ids.isEmpty else { return }
        hot.reportChange.bind(ids)
        try hot.reportChange.run()
    }

    private func insert(_ payload: PayloadRecord) throws {
        try database.cachedStatement(sql: "INSERT INTO payload(id, lane, content, checked_at) VALUES(?, ?, ?, ?)")
            .execute(arguments: [
                payload.id.rawValue, Int64(payload.lane.rawValue), Data(payload.content), payload.acceptedAt.rawValue,
            ])
    }

    private func insert(_ record: NotificationRecord) throws {
        let message = hot.message
        message.bind(record.id.rawValue)
        message.bind(record.subject.app.column)
        message.bind(record.subject.device.column)
        message.bind(record.subject.environment.column)
        message.bind(Int64(record.subject.generation))
        message.bind(Int64(record.lane.rawValue))
        message.bind(record.apnsID?.rawValue)
        message.bind(record.pushType?.rawValue)
        message.bind(Int64(record.priority.rawValue))
        message.bind(record.collapseID)
        message.bind(record.acceptedAt.rawValue)
        message.bind(record.expiresAt?.rawValue)
        message.bind(record.waits ? 1 : 0)
        message.bind(record.note)
        switch record.payload {
        case .own(let content):
            message.bind(content)
            try message.run()
        case .shared(let payload):
            message.bind(nil as Int64?)
            try message.run()
            hot.payloadUse.bind(record.id.rawValue)
            hot.payloadUse.bind(payload.rawValue)
            try hot.payloadUse.run()
        }
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

    /// The device column of attempts in `identity`. The `apns-id` of an attempt may be repeated any number of times; it
    /// only finds timelines.
    static let nobody: Int64 = 0

    private func insertIdentity(
        _ apnsID: APNsID, device: Int64, app: Int64, environment: Int64, id: NotificationID
    ) throws {
        let identity = hot.identity
        identity.bind(apnsID.lookUpKey)
        identity.bind(device)
        identity.bind(app)
        identity.bind(environment)
        identity.bind(id.rawValue)
        try identity.run()
    }

    private func insert(_ refusal: RefusalRecord) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO message(id, lane, apns_id, priority, accepted_at, stored, team, topic, code, note)
                VALUES(?, 0, ?, 10, ?, 0, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            refusal.id.rawValue, refusal.apnsID?.rawValue, refusal.at.rawValue, refusal.team.rawValue, refusal.topic,
            refusal.code, refusal.note,
        ])
        if let apnsID = refusal.apnsID {
            try database.cachedStatement(sql: "INSERT INTO refusal(apns_id, team, id) VALUES(?, ?, ?)")
                .execute(arguments: [apnsID.lookUpKey, refusal.team.rawValue, refusal.id.rawValue])
        }
    }

    private func removeWaiting(_ id: NotificationID, of device: DeviceID) throws {
        hot.removePending.bind(device.column)
        hot.removePending.bind(id.rawValue)
        try hot.removePending.run()
    }

    private func keep(_ tombstone: Mailbox.Tombstone, of device: DeviceID) throws {
        try database.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO tombstone(device, app, environment, lane, id, count, since)
                VALUES(?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            device.column, tombstone.app.column, tombstone.environment.column, Int64(tombstone.lane.rawValue),
            tombstone.id.rawValue, Int64(tombstone.count), tombstone.since.rawValue,
        ])
    }

    private func add(_ missed: MissedNotifications, of device: DeviceID) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO missed(device, app, environment, lane, count, since) VALUES(?, ?, ?, ?, ?, ?)
                ON CONFLICT(device, app, environment, lane) DO UPDATE SET count = count + excluded.count
                """
        ).execute(arguments: [
            device.column, missed.app.column, missed.environment.column, Int64(missed.lane.rawValue),
            Int64(missed.count), missed.since.rawValue,
        ])
    }

    private func forgetMissed(of device: DeviceID, only place: RegistrationKey?) throws {
        guard let place else {
            return try database.cachedStatement(sql: "DELETE FROM missed WHERE device = ?")
                .execute(arguments: [device.column])
        }
        try database.cachedStatement(sql: "DELETE FROM missed WHERE device = ? AND app = ? AND environment = ?")
            .execute(arguments: [device.column, place.app.column, place.environment.column])
    }

    private func append(_ entry: TimelineEntry, to id: NotificationID) throws {
        hot.timeline.bind(id.rawValue)
        hot.timeline.bind(entry.at.rawValue)
        hot.timeline.bind(entry.state.text)
        hot.timeline.bind(entry.source.rawValue)
        hot.timeline.bind(entry.note)
        try hot.timeline.run()
    }

    private func raiseHighWater(to ceiling: Int64) throws {
        try database.execute(
            sql: """
                INSERT INTO meta(key, value) VALUES('high_water', ?)
                ON CONFLICT(key) DO UPDATE SET value = max(value, excluded.value)
                """, arguments: [ceiling])
    }

    private func insert(_ span: UnrecordedSpan) throws {
        try database.execute(
            sql: """
                INSERT INTO unrecorded(team, first, last, count) VALUES(?, ?, ?, ?)
                ON CONFLICT(team, first) DO UPDATE SET last = max(last, excluded.last), count = count + excluded.count
                """, arguments: [span.team.rawValue, span.first.rawValue, span.last.rawValue, span.count])
    }
}
