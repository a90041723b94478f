import AgentEngine
import AgentProtocol
import GRDB
import PushCore

/// The ends of runs that had hand-overs without an answer.
extension ChangeApplier {
    /// Counts an attempt for each hand-over, and gives up those whose attempts are used up.
    ///
    /// - Returns: How many there were, and how many were given up.
    func end(
        _ unanswered: UnansweredHandovers, of app: BundleID, _ conditions: PresentationConditions, at: Timestamp
    ) throws -> ChangeResult {
        var ends = try unanswered.responses.map { try end($0, of: app, at: at) }
        ends += try unanswered.notifications.map { try end($0, of: app, conditions, at: at) }
        if let message = unanswered.message { ends.append(try endMessage(message, of: app, at: at)) }
        if unanswered.wasTold {
            ends.append(try endReport("upstream", by: "sequence", where: "app = ?1 AND ended = 1", of: app))
            ends.append(try endReport("deletion", by: "id", where: "app = ?1", of: app))
        }
        let counted = ends.compactMap(\.self)
        return .runEnded(app: app, counted: counted.count, givenUp: counted.count { $0 })
    }

    // Each returns whether a hand-over is given up; `nil` for one that has ended already.

    private func end(_ response: WaitingResponse.Place, of app: BundleID, at: Timestamp) throws -> Bool? {
        guard
            let row = try Row.fetchOne(
                database.cachedStatement(
                    sql: """
                        UPDATE response SET attempts = attempts + 1
                        WHERE sequence = ? AND app = ? AND handled_at IS NULL RETURNING notification, attempts
                        """), arguments: [response, app])
        else { return nil }
        let (id, attempts) = (NotificationID(rawValue: row[0]), row[1] as Int)
        guard try isOver(id, attempts, of: UnansweredHandovers.attemptLimit, what: "the response", at: at) else {
            return false
        }
        try execute("UPDATE response SET handled_at = ? WHERE sequence = ?", [at.rawValue, response])
        // With its response it would have reached the app.
        try execute(
            "UPDATE notification SET handed_at = ? WHERE id = ? AND handed_at IS NULL",
            [Self.notForApp, id.rawValue])
        return true
    }

    private func end(
        _ id: NotificationID, of app: BundleID, _ conditions: PresentationConditions, at: Timestamp
    ) throws -> Bool? {
        try execute(
            "UPDATE notification SET attempts = attempts + 1 WHERE id = ? AND app = ? AND handed_at IS NULL",
            [id.rawValue, app])
        guard database.changesCount == 1,
            let notification = try WaitingNotification.fetch(
                database, condition: "id = ?", arguments: [id.rawValue], limit: 1
            ).first
        else { return nil }
        guard
            try isOver(
                id, notification.attempts, of: UnansweredHandovers.attemptLimit, what: "the notification", at: at)
        else { return false }
        let showing = notification.says.showsText ? conditions.plan(notification.says).showing : .nothing
        try appear(id, showing, isForApp: false, at: at)
        return true
    }

    private func endMessage(_ id: NotificationID, of app: BundleID, at: Timestamp) throws -> Bool? {
        let attempts = try Int.fetchOne(
            database.cachedStatement(
                sql: "UPDATE data_message SET attempts = attempts + 1 WHERE id = ? AND app = ? RETURNING attempts"),
            arguments: [id.rawValue, app])
        guard let attempts else { return nil }
        guard try isOver(id, attempts, of: UnansweredHandovers.channelAttemptLimit, what: "the message", at: at) else {
            return false
        }
        return try takeBackData(id, app: app)
    }

    /// Reports an attempt, and whether it was the last one.
    private func isOver(
        _ id: NotificationID, _ attempts: Int, of limit: Int, what: String, at: Timestamp
    ) throws -> Bool {
        let note = "its app ended before it had handled \(what): attempt \(attempts) of \(limit)"
        try report(id, attempts < limit ? .unanswered : .failed("appCrashed"), at: at, source: .agent, note: note)
        return attempts >= limit
    }

    /// Counts an attempt for the first report of a table that the app has not confirmed.
    private func endReport(_ table: String, by key: String, where condition: String, of app: BundleID) throws -> Bool? {
        let attempts = try Int.fetchOne(
            database.cachedStatement(
                sql: """
                    UPDATE \(table) SET attempts = attempts + 1
                    WHERE app = ?1 AND \(key) = (SELECT min(\(key)) FROM \(table) WHERE \(condition)) RETURNING attempts
                    """), arguments: [app])
        guard let attempts else { return nil }
        guard attempts >= UnansweredHandovers.channelAttemptLimit else { return false }
        try execute("DELETE FROM \(table) WHERE \(condition) AND attempts >= ?2", [app, attempts])
        return true
    }
}
