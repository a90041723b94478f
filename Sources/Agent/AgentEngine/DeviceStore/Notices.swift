import AgentProtocol
import GRDB
import PushCore

/// A notice of the server's that came over the device channel.
package struct ArrivedNotice: Sendable {
    /// The notification that carried the notice; its id is acknowledged.
    package var carrier: OutgoingNotification
    /// The notice itself.
    package var notice: DeviceNotice
    /// The number of the session that brought it.
    package var session: Int
    /// When it came, by this device's wall clock.
    package var receivedAt: Timestamp
    /// Whether its app is installed here; else it is acknowledged, and not reported.
    package var isForInstalledApp: Bool

    /// A notice that came. Each parameter is the property of its name.
    package init(
        carrier: OutgoingNotification, notice: DeviceNotice, session: Int, receivedAt: Timestamp,
        isForInstalledApp: Bool
    ) {
        self.carrier = carrier
        self.notice = notice
        self.session = session
        self.receivedAt = receivedAt
        self.isForInstalledApp = isForInstalledApp
    }
}

/// A deletion on the server that is to be reported to an app.
package struct Deletion: Sendable, Equatable {
    /// The id of the notice, by which the app confirms it.
    package var id: NotificationID
    /// How many notifications were deleted.
    package var count: Int
    /// When the first of them were, by the server's clock.
    package var since: Timestamp
}

extension StoreChange {
    /// A notice came over the device channel.
    package static func noticed(_ arrived: ArrivedNotice) -> StoreChange {
        StoreChange(.storeArrival) { try $0.store(arrived) }
    }

    /// The app has received the deletion of this notice.
    package static func deletionTaken(_ id: NotificationID, app: BundleID) -> StoreChange {
        StoreChange(.storeHandled, silently: { try $0.forgetDeletion(id, app: app) })
    }
}

extension ChangeApplier {
    func store(_ arrived: ArrivedNotice) throws -> ChangeResult {
        let carrier = arrived.carrier
        let app = BundleID(carrier.topic)
        try execute("INSERT OR IGNORE INTO unconfirmed (id) VALUES (?)", [carrier.id.rawValue])
        guard database.changesCount == 1, arrived.isForInstalledApp else {
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
