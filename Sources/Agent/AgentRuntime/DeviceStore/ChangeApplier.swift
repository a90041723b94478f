import AgentEngine
import AgentProtocol
import Foundation
import GRDB
import PushCore

/// The statements by which changes are applied, inside one transaction: each event together with its receipts.
///
/// Everything throws when the database does; then nothing of the transaction is stored.
package struct ChangeApplier {
    /// The connection to the database, in a transaction.
    package let database: Database

    /// Applies changes in the transaction that this connection is in.
    package init(database: Database) {
        self.database = database
    }

    // MARK: Arriving

    func store(_ arrival: Arrival) throws -> ChangeResult {
        let notification = arrival.notification
        let (id, app) = (notification.id, BundleID(notification.topic))
        try execute("INSERT OR IGNORE INTO unconfirmed (id) VALUES (?)", [id.rawValue])
        guard database.changesCount == 1 else {
            return .stored(id, app: app, session: arrival.session, isNew: false, awaited: false)
        }
        if case .awaitsExtension = arrival.disposition {
            let isNew = try hold(arrival)
            if isNew, let decryption = arrival.decryption {
                try storeOutcome(decryption, of: id, at: arrival.receivedAt)
            }
            return .extending(id, app: app, session: arrival.session, isNew: isNew)
        }
        guard try insert(arrival) else {
            return .stored(id, app: app, session: arrival.session, isNew: false, awaited: false)
        }
        if let decryption = arrival.decryption { try storeOutcome(decryption, of: id, at: arrival.receivedAt) }
        if arrival.lacksExtension {
            try report(
                id, .extended("noExtension"), at: arrival.receivedAt, source: .agent,
                note: "the payload asks for a service extension, and its app has none here: nothing of it was fetched")
        }
        if arrival.hasUnaskedPicture {
            try report(
                id, .extended("notAsked"), at: arrival.receivedAt, source: .agent, note: PayloadPicture.unasked)
        }
        if case .ends(let state, let note) = arrival.disposition {
            try report(id, state, at: arrival.receivedAt, source: .agent, note: note)
            return .stored(id, app: app, session: arrival.session, isNew: true, awaited: false)
        }
        if case .isShown = arrival.disposition {
            return .stored(id, app: app, session: arrival.session, isNew: true, awaited: false)
        }
        return .stored(id, app: app, session: arrival.session, isNew: true, awaited: true)
    }

    /// The value of `handed_at` in a notification that is never delivered to its app.
    static let notForApp: Int64 = 0

    /// The value of `deferred_at` in a notification that wakes no app.
    package static let neverWakes: Int64 = 0

    /// - Returns: Whether it was new.
    func insert(_ arrival: Arrival) throws -> Bool {
        let notification = arrival.notification
        var endedAt: Int64?
        if case .ends = arrival.disposition { endedAt = arrival.receivedAt.rawValue }
        var shows = PresentationOptions.nothing
        switch arrival.disposition {
        case .waitsShown(let showing): shows = showing
        case .isShown(let showing):
            shows = showing
            endedAt = Self.notForApp
        case .waits, .ends, .awaitsExtension: break
        }
        let presentation: PresentationState =
            try shows.contains(.screen) && hasRoom(app: BundleID(notification.topic)) ? .wanted : .none
        try execute(
            """
            INSERT INTO notification (
                id, app, apns_id, identifier, environment, push_type, priority, payload, accepted_at, received_at,
                expires_at, presentation, shows, handed_at, deferred_at, content)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
            """,
            [
                notification.id.rawValue, notification.topic.rawValue, notification.apnsID.rawValue,
                notification.shownIdentifier, notification.environment.rawValue,
                notification.pushType?.rawValue, Int64(notification.priority.rawValue),
                Data(notification.payload), notification.acceptedAt.rawValue, arrival.receivedAt.rawValue,
                notification.expiresAt?.rawValue, presentation.rawValue, shows.rawValue, endedAt,
                arrival.kind == .foreground ? Self.neverWakes : nil, try arrival.content.map(JSONText.of),
            ])
        guard database.changesCount == 1 else { return false }
        if presentation == .none, shows.contains(.list) {
            try list(notification.id, at: arrival.receivedAt)
            try report(
                notification.id, .presented, at: arrival.receivedAt, source: .agent, note: "in the list only")
        } else if presentation == .none, shows.contains(.screen), endedAt == Self.notForApp {
            try reportNoRoom(notification.id, at: arrival.receivedAt)
        }
        return true
    }

    func confirm(_ ids: [NotificationID]) throws {
        for id in ids { try execute("DELETE FROM unconfirmed WHERE id = ?", [id.rawValue]) }
    }

    // MARK: Handing over and presenting

    /// Records that the app's handler returned. `handed` is reported now; for a notification queued for the screen, when
    /// the presenter has answered. A notification that was queued before keeps its `shows`.
    func hand(
        _ id: NotificationID, app: BundleID, shows: PresentationOptions, at: Timestamp
    ) throws {
        let isOnScreen = try shows.contains(.screen) && hasRoom(app: app)
        try execute(
            """
            UPDATE notification
            SET handed_at = ?1, presentation = CASE WHEN ?2 AND presentation = 0 THEN 1 ELSE presentation END,
                shows = CASE presentation WHEN 0 THEN ?5 ELSE shows END
            WHERE id = ?3 AND app = ?4 AND handed_at IS NULL
            """, [at.rawValue, isOnScreen, id.rawValue, app, shows.rawValue])
        guard database.changesCount == 1 else { return }
        if !isOnScreen, shows.contains(.list) { try list(id, at: at) }
        guard
            let row = try Row.fetchOne(
                database.cachedStatement(sql: "SELECT presentation, presentation_note FROM notification WHERE id = ?"),
                arguments: [id.rawValue])
        else { return }
        let (presentation, note): (Int64, String?) = (row[0], row[1])
        guard presentation != PresentationState.wanted.rawValue else { return }
        try report(id, .handed, at: at, source: .app, note: note)
    }

    /// Ends a call that its app did not take: nothing of it is shown, and the app does not get it again.
    func endUntakenCall(_ id: NotificationID, app: BundleID, at: Timestamp) throws {
        try execute(
            "UPDATE notification SET handed_at = ? WHERE id = ? AND app = ? AND handed_at IS NULL",
            [at.rawValue, id.rawValue, app])
        guard database.changesCount == 1 else { return }
        try report(
            id, .failed(PushType.noReceiver), at: at, source: .app,
            note: "the app did not take the call within 30 seconds: it has no PKPushRegistry, or its delegate did not "
                + "call the completion")
    }

    func wantPresentation(app: BundleID, _ conditions: PresentationConditions, at: Timestamp) throws {
        let waiting = try WaitingNotification.fetch(
            database,
            condition: """
                app = ? AND handed_at IS NULL AND presentation = 0 AND listed_at IS NULL
                    AND NOT EXISTS (SELECT 1 FROM response WHERE notification = n.id AND handled_at IS NULL)
                """, arguments: [app], limit: nil)
        for notification in waiting where notification.effectiveContent.showsText {
            try appear(notification.id, conditions.plan(notification.effectiveContent).showing, isForApp: true, at: at)
        }
    }

    /// Queues a notification for the screen that has not appeared yet; without `isForApp` it is not delivered to its
    /// app any more.
    func appear(
        _ id: NotificationID, _ shows: PresentationOptions, isForApp: Bool, at: Timestamp
    ) throws {
        let app = try BundleID.fetchOne(
            database.cachedStatement(sql: "SELECT app FROM notification WHERE id = ?"), arguments: [id.rawValue])
        if shows.contains(.screen), try hasRoom(app: app ?? "") {
            try execute(
                """
                UPDATE notification SET presentation = 1, shows = ?
                WHERE id = ? AND presentation = 0 AND listed_at IS NULL
                """, [shows.rawValue, id.rawValue])
        } else if shows.contains(.list) {
            try list(id, at: at)
        } else if shows.contains(.screen), !isForApp {
            try reportNoRoom(id, at: at)
        }
        if !isForApp {
            try execute(
                "UPDATE notification SET handed_at = ? WHERE id = ? AND handed_at IS NULL",
                [Self.notForApp, id.rawValue])
        }
    }

    func present(_ id: NotificationID, _ outcome: PresentationOutcome, again: Bool, at: Timestamp) throws {
        var (state, handle, note) = (PresentationState.failed, String?.none, String?.none)
        switch outcome {
        case .presented(let shownAs, let how):
            (state, handle, note) = (.shown, shownAs, how)
            if again {
                note = [how, "shown again after a restart of the agent; a second popup is possible"]
                    .compactMap { $0 }.joined(separator: "; ")
            }
        case .kept(let reason): (state, note) = (.shown, "in the list only: \(reason)")
        case .failed(let reason): note = "not shown: \(reason)"
        }
        try execute(
            """
            UPDATE notification SET presentation = ?, presentation_note = ?, handle = ?, presented_at = ?
            WHERE id = ? AND presentation = 1
            """,
            [
                state.rawValue, state == .shown ? nil : note, handle, state == .shown ? at.rawValue : nil,
                id.rawValue,
            ])
        guard database.changesCount == 1 else { return }
        // Shown or not, it is in the list too, where the list may have it.
        let shows = try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT shows FROM notification WHERE id = ?"), arguments: [id.rawValue])
        let isListed = PresentationOptions(rawValue: shows ?? 0).contains(.list)
        if isListed { try list(id, at: at) }
        if case .kept(let reason) = outcome {
            let isSeen: NotificationState = isListed ? .presented : .failed("NotShown")
            try report(id, isSeen, at: at, source: .agent, note: isListed ? note : "not shown: \(reason)")
        } else if state == .shown {
            try report(id, .presented, at: at, source: .desktop, note: note)
        }
        let handedAt = try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT handed_at FROM notification WHERE id = ?"),
            arguments: [id.rawValue])
        if handedAt == Self.notForApp, state == .failed {
            try report(id, .failed("NotShown"), at: at, source: .desktop, note: note)
        } else if let handedAt, handedAt != Self.notForApp {
            try report(id, .handed, at: at, source: .app, note: state == .shown ? nil : note)
        }
    }

    /// The most notifications of one app that are queued for the screen.
    private static let screenQueueLimit = 32

    /// Whether fewer than ``screenQueueLimit`` notifications of an app are queued for the screen. Further ones go into
    /// the list, so that an app that sends many does not delay the others.
    package func hasRoom(app: BundleID) throws -> Bool {
        let waiting = try Int.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT count(*) FROM notification INDEXED BY notification_wanted_of_app
                    WHERE presentation = 1 AND app = ?
                    """), arguments: [app])
        return waiting ?? 0 < Self.screenQueueLimit
    }

    private func reportNoRoom(_ id: NotificationID, at: Timestamp) throws {
        try report(
            id, .failed("NotShown"), at: at, source: .agent,
            note: "\(Self.screenQueueLimit) of its app wait for the screen already, and the list may not have it")
    }

    /// Records that a new notification server shows a notification that an earlier one showed, or that could not be
    /// shown. One that was answered or left the screen meanwhile is not changed.
    func showAgain(_ id: NotificationID, handle: String, at: Timestamp) throws {
        let failed = PresentationState.failed.rawValue
        let wasMissing = try Bool.fetchOne(
            database.cachedStatement(sql: "SELECT presentation = ? FROM notification WHERE id = ?"),
            arguments: [failed, id.rawValue])
        try execute(
            """
            UPDATE notification SET handle = ?1, presentation = ?2, presented_at = coalesce(presented_at, ?3)
            WHERE id = ?4 AND (handle IS NOT NULL OR presentation = ?5)
                AND NOT EXISTS (SELECT 1 FROM response WHERE notification = ?4)
            """, [handle, PresentationState.shown.rawValue, at.rawValue, id.rawValue, failed])
        guard database.changesCount == 1, wasMissing == true else { return }
        try report(
            id, .presented, at: at, source: .desktop, note: "once there was a notification server to show it")
    }

    /// - Returns: Whether it was on the screen.
    func leaveScreen(_ id: NotificationID) throws -> Bool {
        try execute("UPDATE notification SET handle = NULL WHERE id = ? AND handle IS NOT NULL", [id.rawValue])
        return database.changesCount == 1
    }

    func dismiss(_ id: NotificationID, by answerer: AnswerSource, at: Timestamp) throws {
        let wasShown = try leaveScreen(id)
        try execute("UPDATE notification SET listed_at = NULL WHERE id = ? AND listed_at IS NOT NULL", [id.rawValue])
        if wasShown || database.changesCount == 1 { try report(id, .dismissed, at: at, by: answerer) }
    }

    // MARK: Responses

    /// - Returns: The app; `nil` when it was answered already.
    func tap(
        _ id: NotificationID, action: String, text: String?, by answerer: AnswerSource, isHeld: Bool, at: Timestamp
    ) throws -> BundleID? {
        // A notification is answered once: further presses before the app has the answer change nothing.
        guard
            let app = try BundleID.fetchOne(
                database.cachedStatement(
                    sql: """
                        SELECT app FROM notification WHERE id = ?1
                            AND NOT EXISTS (SELECT 1 FROM response WHERE notification = ?1 AND handled_at IS NULL)
                        """), arguments: [id.rawValue])
        else { return nil }
        _ = try leaveScreen(id)
        try execute("UPDATE notification SET listed_at = NULL WHERE id = ?", [id.rawValue])
        try execute(
            "INSERT INTO response (notification, app, action, text, held, at) VALUES (?, ?, ?, ?, ?, ?)",
            [id.rawValue, app, action, text, isHeld, at.rawValue])
        let state: NotificationState =
            switch action {
            case NotificationAction.open: .opened
            case NotificationAction.dismiss: .dismissed
            default: .action(action)
            }
        try report(id, state, at: at, by: answerer)
        return app
    }

    private func report(_ id: NotificationID, _ state: NotificationState, at: Timestamp, by answerer: AnswerSource)
        throws
    {
        switch answerer {
        case .desktop: try report(id, state, at: at, source: .desktop)
        case .terminal: try report(id, state, at: at, source: .agent, note: "by a person at a terminal")
        }
    }

    /// Has the responses that were held for a locked screen wait for their apps.
    ///
    /// - Returns: The apps that have responses now.
    func release() throws -> [BundleID] {
        let apps = try BundleID.fetchAll(database.cachedStatement(sql: "SELECT DISTINCT app FROM response WHERE held"))
        guard !apps.isEmpty else { return [] }
        // They go to the end of the order: an app may have been given later ones already.
        try execute(
            """
            INSERT INTO response (notification, app, action, text, at)
            SELECT notification, app, action, text, at FROM response WHERE held ORDER BY sequence
            """, [])
        try execute("DELETE FROM response WHERE held", [])
        return apps
    }

    /// Records that an app handled a response. Its notification counts as handed with it, if it was not handed before.
    func finish(_ response: WaitingResponse.Place, app: BundleID, at: Timestamp) throws {
        try execute(
            "UPDATE response SET handled_at = ? WHERE sequence = ? AND app = ? AND handled_at IS NULL",
            [at.rawValue, response, app])
        guard database.changesCount == 1,
            let raw = try Int64.fetchOne(
                database.cachedStatement(sql: "SELECT notification FROM response WHERE sequence = ?"),
                arguments: [response])
        else { return }
        try execute(
            """
            UPDATE notification SET responded_at = ?1, handed_at = CASE WHEN handed_at = 0 THEN NULL ELSE handed_at END
            WHERE id = ?2
            """, [at.rawValue, raw])
        try hand(NotificationID(rawValue: raw), app: app, shows: .nothing, at: at)
    }

    func dropResponses(app: BundleID, at: Timestamp) throws -> ChangeResult {
        try execute(
            "UPDATE response SET handled_at = ? WHERE app = ? AND handled_at IS NULL AND NOT held", [at.rawValue, app])
        return .responsesDropped(app: app, count: database.changesCount)
    }

    // MARK: Receipts

    func deleteReceipts(_ range: ClosedRange<OutboxPlace>) throws {
        try execute("DELETE FROM outbox WHERE sequence BETWEEN ? AND ?", [range.lowerBound, range.upperBound])
    }

    /// Adds a receipt to the outbox; an app's own notification has none.
    package func report(
        _ id: NotificationID, _ state: NotificationState, at: Timestamp, source: TimelineSource, note: String? = nil
    ) throws {
        // Only what came from a provider has a timeline.
        guard id.rawValue > 0 else { return }
        try execute(
            "INSERT INTO outbox (notification, state, at, source, note) VALUES (?, ?, ?, ?, ?)",
            [id.rawValue, state.text, at.rawValue, source.rawValue, note])
    }

    /// Runs one SQL statement, which is compiled at its first use.
    package func execute(_ sql: String, _ arguments: StatementArguments) throws {
        try database.cachedStatement(sql: sql).execute(arguments: arguments)
    }
}

/// How far a notification has come to the screen: the values of its column `presentation`.
package enum PresentationState: Int64, Sendable {
    /// The notification has not appeared, and there is no intent.
    case none = 0
    /// The intent: stored before the presenter is asked.
    case wanted = 1
    /// The notification has appeared, on the screen or in the list, or was removed before it could.
    case shown = 2
    /// The presenter could not show it; the reason is in the column `presentation_note`.
    case failed = 3
}
