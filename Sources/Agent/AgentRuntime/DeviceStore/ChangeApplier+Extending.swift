import AgentEngine
import AgentProtocol
import Foundation
import GRDB
import PushCore

/// Notifications that wait for a service extension: stored and acknowledged, but not delivered before the extension has
/// answered.
extension ChangeApplier {
    /// Keeps a notification for its app's service extension.
    ///
    /// - Returns: Whether it was new.
    func hold(_ arrival: Arrival) throws -> Bool {
        let notification = arrival.notification
        try execute(
            """
            INSERT INTO extending (
                id, app, apns_id, identifier, environment, push_type, priority, payload, accepted_at, received_at,
                expires_at)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11
            WHERE NOT EXISTS (SELECT 1 FROM notification WHERE id = ?1) ON CONFLICT (id) DO NOTHING
            """,
            [
                notification.id.rawValue, notification.topic.rawValue, notification.apnsID.rawValue,
                notification.shownIdentifier, notification.environment.rawValue,
                notification.pushType?.rawValue, Int64(notification.priority.rawValue),
                Data(notification.payload), notification.acceptedAt.rawValue, arrival.receivedAt.rawValue,
                notification.expiresAt?.rawValue,
            ])
        return database.changesCount == 1
    }

    /// A notification waits for its extension no longer: it is stored as it appears, with the extension's receipt.
    ///
    /// - Parameter outcome: The text of the state `extended` in the timeline.
    func release(
        _ id: NotificationID, content: NotificationContent?, disposition: PlannedNotification.Disposition,
        outcome: String, note: String?, at: Timestamp
    ) throws -> ChangeResult {
        guard let (notification, kind) = try extending(id) else { return .nothing }
        try execute("DELETE FROM extending WHERE id = ?", [id.rawValue])
        try report(id, .extended(outcome), at: at, source: .agent, note: note)
        let isNew = try insert(
            Arrival(
                notification: notification, session: 0, receivedAt: at, kind: kind, disposition: disposition,
                content: content))
        guard isNew else { return .nothing }
        var isAwaited = false
        switch disposition {
        case .ends(let state, let reason): try report(id, state, at: at, source: .agent, note: reason)
        case .waits, .waitsShown: isAwaited = true
        case .isShown, .awaitsExtension: break
        }
        return .extended(id, app: BundleID(notification.topic), awaited: isAwaited)
    }

    private func extending(_ id: NotificationID) throws -> (OutgoingNotification, DeliveryKind)? {
        guard
            let row = try Row.fetchOne(
                database.cachedStatement(sql: "SELECT * FROM extending WHERE id = ?"), arguments: [id.rawValue])
        else { return nil }
        let payload: Data = row["payload"]
        let expiresAt: Int64? = row["expires_at"]
        let pushType: String? = row["push_type"]
        let notification = OutgoingNotification(
            id: id, apnsID: APNsID(rawValue: row["apns_id"]), team: TeamID(rawValue: ""),
            topic: Topic(rawValue: row["app"]),
            environment: PushEnvironment(rawValue: row["environment"]) ?? .production, lane: .apns,
            pushType: pushType.flatMap(PushType.init(rawValue:)),
            priority: UInt8(exactly: row["priority"] as Int64).flatMap(Priority.init(rawValue:)) ?? .immediate,
            collapseID: row["identifier"],
            acceptedAt: Timestamp(rawValue: row["accepted_at"]), expiresAt: expiresAt.map(Timestamp.init(rawValue:)),
            payload: Array(payload))
        return (notification, PayloadDelivery(payload: String(decoding: payload, as: UTF8.self)).kind)
    }

    /// Ends what waits for the extension of an app that was removed.
    func endExtending(of app: BundleID, at: Timestamp) throws {
        let waiting = try Int64.fetchAll(
            database.cachedStatement(sql: "SELECT id FROM extending WHERE app = ?"), arguments: [app])
        for id in waiting {
            try report(
                NotificationID(rawValue: id), .dropped(.unregistered), at: at, source: .agent,
                note: "its app was removed from the device")
        }
        try execute("DELETE FROM extending WHERE app = ?", [app])
    }
}

extension AgentReader {
    /// The notifications that wait for their apps' service extensions, in the order in which they came.
    package func extending() throws -> [(id: NotificationID, app: BundleID)] {
        try Row.fetchAll(database.cachedStatement(sql: "SELECT id, app FROM extending ORDER BY received_at, id")).map {
            (NotificationID(rawValue: $0[0]), $0[1])
        }
    }

    /// A notification that waits for its app's service extension; `nil` where it does not wait any more.
    package func extending(_ id: NotificationID) throws -> WaitingNotification? {
        try Row.fetchOne(
            database.cachedStatement(
                sql: "SELECT app, apns_id, identifier, payload, accepted_at FROM extending WHERE id = ?"),
            arguments: [id.rawValue]
        ).map { row in
            WaitingNotification(
                sequence: 0, id: id, app: row[0], apnsID: row[1], identifier: row[2],
                payload: String(decoding: row[3] as Data, as: UTF8.self), acceptedAt: Timestamp(rawValue: row[4]))
        }
    }
}

extension ChangeApplier {
    /// How many opened messages are remembered.
    private static let openedLimit: Int64 = 100_000

    /// Stores the outcome of decrypting a new notification's payload, and reports it.
    func storeOutcome(_ decryption: PayloadDecryption, of id: NotificationID, at: Timestamp) throws {
        switch decryption {
        case .failed(let failure):
            try report(id, .undecryptable(failure.code), at: at, source: .agent, note: failure.sentence)
        case .opened(let fingerprint):
            try execute(
                "INSERT OR IGNORE INTO opened_message (fingerprint, notification) VALUES (?, ?)",
                [Data(fingerprint), id.rawValue])
            try execute(
                "DELETE FROM opened_message WHERE sequence <= ?", [database.lastInsertedRowID - Self.openedLimit])
            try report(id, .decrypted, at: at, source: .agent)
        }
    }
}
