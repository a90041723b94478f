import AgentEngine
import AgentProtocol
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
        case .handed(let id, let app, let shows, let at):
            try hand(id, app: app, shows: shows, at: at)
            return .handed(id, app: app)
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
            try note(mark, of: app)
            let (id, isOnScreen) = try fire(request, app: app, isAsked: isAsked, shows: shows, at: at)
            return .fired(
                id, app: app, identifier: request.identifier, isAsked: isAsked, isOnScreen: isOnScreen)
        case .scheduled(let app, let request, let mark, let at, let offset):
            try note(mark, of: app)
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
        case .topicWished(let topic, let joins, let app, let waiter):
            return .topicWished(waiter: waiter, fault: try wish(topic, joins: joins, app: app))
        case .topicSettled(let wish): try execute("DELETE FROM topic_wish WHERE sequence = ?", [wish.sequence])
        case .noticed(let arrived): return try store(arrived)
        case .deletionTaken(let id, let app): try forgetDeletion(id, app: app)
        case .extended(let id, let content, let disposition, let outcome, let note, let at):
            return try release(id, content: content, disposition: disposition, outcome: outcome, note: note, at: at)
        }
        return .nothing
    }
}
