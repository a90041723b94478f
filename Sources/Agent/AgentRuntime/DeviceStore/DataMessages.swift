import AgentEngine
import AgentProtocol
import Foundation
import GRDB
import PushCore

/// How many data messages may wait for an app's direct channel.
package enum DataMessageLimits {
    /// Without a collapse key, while the channel is closed: one more empties the queue.
    package static let waiting = 100
    /// Without a collapse key, while the channel is open and the app takes what comes.
    package static let waitingOpen = 10_000
    /// Collapse keys: with one more, the message of the oldest goes.
    package static let collapseKeys = 4
}

extension ChangeApplier {
    func store(_ arrived: ArrivedData) throws -> ChangeResult {
        let message = arrived.message
        let (id, app) = (message.id, BundleID(message.topic))
        func result(isNew: Bool, cleared: Bool = false) -> ChangeResult {
            .dataStored(id, app: app, session: arrived.session, isNew: isNew, cleared: cleared)
        }
        try execute("INSERT OR IGNORE INTO unconfirmed (id) VALUES (?)", [id.rawValue])
        guard database.changesCount == 1 else { return result(isNew: false) }
        guard arrived.isForInstalledApp else {
            try report(
                id, .dropped(.unregistered), at: arrived.receivedAt, source: .agent,
                note: "no app of this name is installed on the device")
            return result(isNew: false)
        }
        let key = message.collapseKey
        let cleared = try key.map { try makeRoom(for: $0, app: app, at: arrived.receivedAt) } ?? clearIfFull(arrived)
        // One attempt: it goes to an open channel, or nowhere.
        guard message.expiresAt != nil || arrived.isChannelOpen else {
            try report(
                id, .dropped(.offline), at: arrived.receivedAt, source: .agent,
                note: "its app's direct channel was closed, and it was to be attempted once")
            return result(isNew: false, cleared: cleared)
        }
        try execute(
            """
            INSERT INTO data_message (
                id, app, apns_id, environment, collapse_key, payload, accepted_at, received_at, expires_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
            """,
            [
                id.rawValue, app, message.apnsID.rawValue, message.environment.rawValue, key,
                Data(message.payload), message.acceptedAt.rawValue, arrived.receivedAt.rawValue,
                message.expiresAt?.rawValue,
            ])
        return result(isNew: database.changesCount == 1, cleared: cleared)
    }

    /// Ends the message that has this collapse key; where as many other keys wait as may, that of the oldest.
    private func makeRoom(for key: String, app: BundleID, at: Timestamp) throws -> Bool {
        let waiting = try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT id, collapse_key FROM data_message INDEXED BY data_message_collapsing
                    WHERE app = ? AND collapse_key IS NOT NULL ORDER BY sequence
                    """), arguments: [app])
        var others: [Int64] = []
        for row in waiting {
            let (id, other): (Int64, String) = (row[0], row[1])
            guard other == key else {
                others.append(id)
                continue
            }
            try endData(NotificationID(rawValue: id), .replaced, at: at, note: nil)
        }
        for id in others.dropLast(DataMessageLimits.collapseKeys - 1) {
            try endData(
                NotificationID(rawValue: id), .dropped(.overflow), at: at,
                note: "messages with \(DataMessageLimits.collapseKeys) newer collapse keys wait for the app")
        }
        return false
    }

    /// Ends the queued messages of an app whose queue is full, and stores a deletion for the app.
    ///
    /// - Returns: Whether any message ended, of which the app is to be notified.
    private func clearIfFull(_ arrived: ArrivedData) throws -> Bool {
        let app = BundleID(arrived.message.topic)
        let limit = arrived.isChannelOpen ? DataMessageLimits.waitingOpen : DataMessageLimits.waiting
        func isFull() throws -> Bool {
            try Int64.fetchOne(
                database.cachedStatement(
                    sql: """
                        SELECT sequence FROM data_message INDEXED BY data_message_of_app
                        WHERE app = ? AND collapse_key IS NULL ORDER BY sequence LIMIT 1 OFFSET ?
                        """), arguments: [app, limit - 1]) != nil
        }
        guard try isFull() else { return false }
        try expireData(at: arrived.receivedAt)
        guard try isFull() else { return false }
        let ids = try Int64.fetchAll(
            database.cachedStatement(sql: "SELECT id FROM data_message WHERE app = ? ORDER BY sequence"),
            arguments: [app])
        for id in ids {
            try endData(
                NotificationID(rawValue: id), .dropped(.overflow), at: arrived.receivedAt,
                note: "\(limit) messages waited for the app's direct channel already")
        }
        try execute(
            """
            INSERT INTO deletion (app, environment, lane, id, count, since) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (app, environment, lane) DO UPDATE SET id = ?4, count = count + ?5
            """,
            [
                app, arrived.message.environment.rawValue, Self.deletedHere, arrived.message.id.rawValue,
                Int64(ids.count), arrived.receivedAt.rawValue,
            ])
        return true
    }

    /// The lane of a deletion that this device made. Those of the server have the number of a lane of its own.
    private static let deletedHere: Int64 = 256

    private func endData(
        _ id: NotificationID, _ state: NotificationState, at: Timestamp, note: String?
    ) throws {
        try execute("DELETE FROM data_message WHERE id = ?", [id.rawValue])
        guard database.changesCount == 1 else { return }
        try report(id, state, at: at, source: .agent, note: note)
    }

    func finishData(_ id: NotificationID, app: BundleID, at: Timestamp) throws {
        try execute("DELETE FROM data_message WHERE id = ? AND app = ?", [id.rawValue, app])
        if database.changesCount == 1 {
            try report(id, .handed, at: at, source: .app, note: "by its direct channel")
        }
    }

    func expireData(at: Timestamp) throws {
        try UnifiedPushTables(database: database).expire(at: at) { id, state, source, note in
            try report(id, state, at: at, source: source, note: note)
        }
        let ids = try Int64.fetchAll(
            database.cachedStatement(
                sql: "SELECT id FROM data_message WHERE expires_at IS NOT NULL AND expires_at <= ? ORDER BY sequence"),
            arguments: [at.rawValue])
        for id in ids {
            try endData(
                NotificationID(rawValue: id), .expired, at: at, note: "its app's direct channel was not open in time")
        }
    }

    /// Ends what waits for an app that was removed.
    func endData(of app: BundleID, at: Timestamp) throws {
        let ids = try Int64.fetchAll(
            database.cachedStatement(sql: "SELECT id FROM data_message WHERE app = ? ORDER BY sequence"),
            arguments: [app])
        for id in ids {
            try endData(
                NotificationID(rawValue: id), .dropped(.unregistered), at: at,
                note: "its app was removed from the device")
        }
    }

    /// Takes back a data message that its app has not had.
    ///
    /// - Returns: Whether it waited.
    func takeBackData(_ id: NotificationID, app: BundleID) throws -> Bool {
        try execute("DELETE FROM data_message WHERE id = ? AND app = ?", [id.rawValue, app])
        if database.changesCount == 1 { return true }
        return try UnifiedPushTables(database: database).remove(id)
    }
}

extension AgentReader {
    /// The data messages that wait for an app: the first `limit` after a place in the order of arrival. What has
    /// expired is left out.
    package func waitingData(app: BundleID, after sequence: DataMessage.Place, limit: Int, at: Timestamp) throws
        -> [DataMessage]
    {
        try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT sequence, id, apns_id, payload, accepted_at FROM data_message
                    WHERE app = ? AND sequence > ? AND (expires_at IS NULL OR expires_at > ?)
                    ORDER BY sequence LIMIT ?
                    """), arguments: [app, sequence, at.rawValue, limit]
        ).map { row in
            DataMessage(
                sequence: row[0], id: NotificationID(rawValue: row[1]), app: app, apnsID: row[2],
                payload: String(decoding: row[3] as Data, as: UTF8.self), acceptedAt: Timestamp(rawValue: row[4]))
        }
    }

    /// When the next data message expires; `nil` where no message expires.
    package func nextDataExpiry() throws -> Timestamp? {
        try Int64.fetchOne(
            database.cachedStatement(
                sql: "SELECT min(expires_at) FROM data_message WHERE expires_at IS NOT NULL")
        ).map(Timestamp.init(rawValue:))
    }

    /// The apps for which data messages wait.
    package func appsWithData() throws -> [BundleID] {
        try BundleID.fetchAll(database.cachedStatement(sql: "SELECT DISTINCT app FROM data_message"))
    }
}

// MARK: Notices of the server

extension ChangeApplier {
    func store(_ arrived: ArrivedNotice) throws -> ChangeResult {
        let carrier = arrived.carrier
        let app = BundleID(carrier.topic)
        try execute("INSERT OR IGNORE INTO unconfirmed (id) VALUES (?)", [carrier.id.rawValue])
        let isNew = database.changesCount == 1
        var concernsApp = arrived.isForInstalledApp
        // Apps of UnifiedPush have one topic at the server, and none is installed under it.
        if case .withdrawn(let id) = arrived.notice, !concernsApp {
            concernsApp = try UnifiedPushTables(database: database).contains(id)
        }
        guard isNew, concernsApp else {
            return .noticed(carrier.id, app: app, session: arrived.session, withdrawn: [])
        }
        switch arrived.notice {
        case .deleted(let count, let since):
            try execute(
                "INSERT OR REPLACE INTO deletion (app, environment, lane, id, count, since) VALUES (?, ?, ?, ?, ?, ?)",
                [
                    app, carrier.environment.rawValue, Int64(carrier.lane.rawValue), carrier.id.rawValue,
                    Int64(count), since.rawValue,
                ])
            return .noticed(carrier.id, app: app, session: arrived.session, withdrawn: [])
        case .withdrawn(let id):
            let isOnScreen = try takeBack(id, app: app, at: arrived.receivedAt)
            return .noticed(carrier.id, app: app, session: arrived.session, withdrawn: isOnScreen ? [id] : [])
        }
    }

    /// Removes a notification from the screen, from the list and, where its app has not received it, from the queue;
    /// reports it.
    ///
    /// - Returns: Whether it may be on the screen and must leave it.
    private func takeBack(_ id: NotificationID, app: BundleID, at: Timestamp) throws -> Bool {
        let found = try Row.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT handle IS NOT NULL OR presentation IN (1, 3), listed_at IS NOT NULL, handed_at IS NULL
                    FROM notification WHERE id = ? AND app = ?
                    """), arguments: [id.rawValue, app])
        let waited = try takeBackData(id, app: app)
        let (isOnScreen, isListed, isAwaited): (Bool, Bool, Bool) =
            found.map { ($0[0], $0[1], $0[2]) } ?? (false, false, waited)
        try execute(
            """
            UPDATE notification SET listed_at = NULL, handle = NULL, presentation = 2,
                handed_at = coalesce(handed_at, ?) WHERE id = ? AND app = ?
            """, [Self.notForApp, id.rawValue, app])
        let note =
            switch (isOnScreen, isListed, isAwaited) {
            case (true, _, _): "taken off the screen"
            case (_, true, _): "taken out of the list"
            case (_, _, true): "taken back before its app had it"
            default: "it was to be seen no more"
            }
        try report(id, .withdrawn, at: at, source: .agent, note: note)
        return isOnScreen
    }

    func forgetDeletion(_ id: NotificationID, app: BundleID) throws {
        try execute("DELETE FROM deletion WHERE app = ? AND id = ?", [app, id.rawValue])
    }
}

extension AgentReader {
    /// The deletions to report to an app, in the order of the notices; at most one for each environment and lane.
    package func deletions(app: BundleID) throws -> [Deletion] {
        try Row.fetchAll(
            database.cachedStatement(sql: "SELECT id, count, since FROM deletion WHERE app = ? ORDER BY id"),
            arguments: [app]
        ).map { row in
            Deletion(id: NotificationID(rawValue: row[0]), count: row[1], since: Timestamp(rawValue: row[2]))
        }
    }
}
