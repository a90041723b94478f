import AgentEngine
import AgentProtocol
import GRDB
import PushCore

extension ChangeApplier {
    /// Makes a change in the transaction.
    ///
    /// - Returns: The result, on which the agent acts after the commit.
    func apply(_ change: StoreChange.Kind) throws -> ChangeResult {
        switch change {
        case .arrived(let arrival): return try store(arrival)
        case .confirmed(let ids): try confirm(ids)
        case .receiptsConfirmed(let range): try deleteReceipts(range)
        case .handled(let id, let app, let shows, let at):
            try hand(id, app: app, shows: shows, at: at)
            return .handled(id, app: app)
        case .callNotTaken(let id, let app, let at):
            try endUntakenCall(id, app: app, at: at)
            return .handled(id, app: app)
        case .leftUnhandled(let app, let conditions, let at): try wantPresentation(app: app, conditions, at: at)
        case .runEnded(let app, let unanswered, let conditions, let at):
            return try end(unanswered, of: app, conditions, at: at)
        case .appeared(let id, let shows, let isForApp, let at): try appear(id, shows, isForApp: isForApp, at: at)
        case .responseHandled(let response, let app, let at):
            try finish(response, app: app, at: at)
            return .responseHandled(response, app: app)
        case .responsesDropped(let app, let at): return try dropResponses(app: app, at: at)
        case .deferred(let app, let at): try deferWaking(app, at: at)
        case .presented(let id, let outcome, let again, let at):
            try present(id, outcome, again: again, at: at)
            return .presented(id)
        case .tapped(let id, let action, let text, let activationToken, let answerer, let isHeld, let at):
            guard let app = try tap(id, action: action, text: text, by: answerer, isHeld: isHeld, at: at)
            else {
                return .nothing
            }
            return isHeld ? .nothing : .tapped(id, app: app, activationToken: activationToken)
        case .released: return .released(apps: try release())
        case .dismissed(let id, let answerer, let at): try dismiss(id, by: answerer, at: at)
        case .leftScreen(let id): _ = try leaveScreen(id)
        case .shownAgain(let id, let handle, let at): try showAgain(id, handle: handle, at: at)
        case .asked(let app, let handle): try keepQuestion(handle, app: app)
        case .preference(let name, let value): try keepPreference(name, value)
        case .standing(let app, let record): try keep(record, app: app)
        case .appRemoved(let app, let at): return .appRemoved(try remove(app, at: at))
        case .begun(let app, let run): try begin(run: run, of: app)
        case .fired(let app, let request, let mark, let isAsked, let shows, let at):
            try setDone(mark, of: app)
            let (id, isOnScreen) = try fire(request, app: app, isAsked: isAsked, shows: shows, at: at)
            return .fired(
                id, app: app, identifier: request.identifier, isAsked: isAsked, isOnScreen: isOnScreen)
        case .scheduled(let app, let request, let mark, let at, let offset):
            try setDone(mark, of: app)
            return try schedule(request, app: app, at: at, offset: offset)
        case .due(let due, let isAsked, let shows, let at):
            guard try take(due) else { return .nothing }
            let (id, isOnScreen) = try store(due.request, app: due.app, isAsked: isAsked, shows: shows, at: at)
            return .fired(
                id, app: due.app, identifier: due.request.identifier, isAsked: isAsked, isOnScreen: isOnScreen)
        case .missed(let key, let occurrence, let isLast): try pass(occurrence, of: key, isLast: isLast)
        case .anchored(let key, let added, let lastFired): try anchor(key, added: added, lastFired: lastFired)
        case .crossed(let key, let side): try storeRegionState(side, of: key)
        case .unscheduled(let app, let identifiers): return .unscheduled(try unschedule(identifiers, app: app))
        case .unlisted(let app, let identifiers): return .unlisted(try unlist(identifiers, app: app))
        case .dataArrived(let arrived): return try store(arrived)
        case .dataTaken(let id, let app, let at):
            try finishData(id, app: app, at: at)
            return .dataTaken(id, app: app)
        case .dataExpired(let at): try expireData(at: at)
        case .upstreamQueued(let draft, let app, let waiter, let at):
            return .upstreamQueued(waiter: waiter, fault: try queue(draft, app: app, at: at))
        case .upstreamEnded(let sequence, let code):
            let ended = try end(code: code, where: "sequence = ?", arguments: [sequence])
            return .upstreamEnded(ended)
        case .upstreamUnderWay(let messages):
            for sequence in messages {
                try execute("UPDATE upstream SET under_way = 1 WHERE sequence = ?", [sequence])
            }
        case .upstreamExpired(let at):
            try postponeUpstreamUnderWay(at: at)
            return .upstreamEnded(
                try end(code: ChannelFault.expired, where: "expires_at <= ?", arguments: [at.rawValue]))
        case .upstreamEndTaken(let sequence, let app):
            try execute(
                "DELETE FROM upstream WHERE sequence = ? AND app = ? AND ended = 1", [sequence, app])
        case .topicChangeRequested(let topic, let joins, let app, let waiter):
            return .topicChangeRequested(waiter: waiter, fault: try requestTopicChange(topic, joins: joins, app: app))
        case .topicSettled(let request): try execute("DELETE FROM topic_wish WHERE sequence = ?", [request.sequence])
        case .liveActivity(let record):
            try execute(
                "INSERT OR REPLACE INTO live_activity (app, id, record) VALUES (?, ?, ?)",
                [record.app, record.activity.id, try JSONText.of(record)])
            return .liveActivity(record)
        case .liveActivityDismissed(let record):
            try execute("DELETE FROM live_activity WHERE app = ? AND id = ?", [record.app, record.activity.id])
            return .liveActivity(record)
        case .unifiedPush(let change, let at):
            return try UnifiedPushTables(database: database).apply(change, at: at) { id, state, source, note in
                try report(id, state, at: at, source: source, note: note)
            }
        case .noticed(let arrived): return try store(arrived)
        case .deletionTaken(let id, let app): try forgetDeletion(id, app: app)
        case .extended(let id, let content, let disposition, let outcome, let note, let at):
            return try release(id, content: content, disposition: disposition, outcome: outcome, note: note, at: at)
        }
        return .nothing
    }
}

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
        let showing =
            notification.effectiveContent.showsText ? conditions.plan(notification.effectiveContent).showing : .nothing
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
