import AgentProtocol
import Logging
import PushCore

/// Effects of a commit, and of a commit that failed.
extension AgentEngine {
    /// Effects that all changes of a commit have together, once for each app or for the session.
    private struct FollowUp {
        var stored: [NotificationID] = []
        var extending: [(id: NotificationID, app: BundleID)] = []
        var awaited: Set<BundleID> = []
        var deletions: Set<BundleID> = []
        var filled: Set<BundleID> = []
        var handed: [BundleID: [Int64]] = [:]
        var taken: [BundleID: [Int64]] = [:]
        var responses: [BundleID: [Int64]] = [:]
    }

    /// The changes of a batch are on the disk.
    package mutating func committed(_ results: [ChangeResult], _ context: Context) {
        // An app receives the confirmation of its command before the outcome.
        sendConfirmations()
        var rest = FollowUp()
        for result in results {
            switch result {
            case .stored, .noticed, .extending, .extended, .dataStored:
                followArrival(result, &rest, session: context.session)
            case .handed(let id, let app): rest.handed[app, default: []].append(id.rawValue)
            case .dataTaken(let id, let app): rest.taken[app, default: []].append(id.rawValue)
            case .responseHandled(let response, let app): rest.responses[app, default: []].append(response.rawValue)
            case .fired, .scheduled, .unscheduled, .unlisted, .appRemoved:
                followRequest(result, rest: &rest, context: context)
            case .tapped, .released, .responsesDropped: followResponse(result, context)
            case .presented(let id): presentations.answered(id)
            case .upstreamQueued(let waiter, let fault): upstreamQueued(waiter: waiter, fault: fault, context)
            case .upstreamEnded(let ended): tellEnds(ended)
            case .topicWished(let waiter, let fault): topicWished(waiter: waiter, fault: fault)
            case .nothing: break
            }
        }
        followAll(rest, context)
        presentations.committed()
        sendPresentations(context)
        emit(.link(.receiptsCommitted))
    }

    /// Follows what a session brought.
    private mutating func followArrival(_ result: ChangeResult, _ rest: inout FollowUp, session: Int?) {
        switch result {
        case .stored(let id, let app, let origin, let isNew, let isAwaited):
            if isNew { noteStored(app) }
            if origin == session { rest.stored.append(id) }
            if isAwaited { rest.awaited.insert(app) }
        case .noticed(let id, let app, let origin, let withdrawn):
            if origin == session { rest.stored.append(id) }
            rest.deletions.insert(app)
            withdraw(withdrawn)
        case .extending(let id, let app, let origin, let isNew):
            if origin == session { rest.stored.append(id) }
            if isNew { rest.extending.append((id, app)) }
        case .extended(_, let app, let isAwaited):
            noteStored(app)
            if isAwaited { rest.awaited.insert(app) }
        case .dataStored(let id, let app, let origin, let isNew, let cleared):
            if origin == session { rest.stored.append(id) }
            if isNew { rest.filled.insert(app) }
            if cleared { rest.deletions.insert(app) }
        default: break
        }
    }

    /// Follows what concerns apps' own requests, and the list.
    private mutating func followRequest(_ result: ChangeResult, rest: inout FollowUp, context: Context) {
        switch result {
        case .fired(_, let app, let identifier, let isAsked, let isOnScreen):
            noteStored(app)
            if isAsked { rest.awaited.insert(app) }
            if app == AppManifest.terminalID, !isAsked, !isOnScreen {
                failTerminal(identifier, "too many notifications wait for the screen already")
            }
        case .scheduled(let waiting, let replaced, let dropped):
            if !dropped.isEmpty {
                log(
                    .warning, "More wait than may: what was added first does not come.",
                    [LogKey.topic: "\(waiting.app)", LogKey.count: "\(dropped.count)"])
            }
            updateSchedule(.stored(waiting, replaced: replaced + dropped), context)
        case .unscheduled(let keys): updateSchedule(.removed(keys), context)
        case .unlisted(let ids): withdraw(ids)
        case .appRemoved(let ids):
            withdraw(ids)
            removeUnstoredFromSchedule(context)
        default: break
        }
    }

    /// Follows what people answered.
    private mutating func followResponse(_ result: ChangeResult, _ context: Context) {
        switch result {
        case .tapped(let id, let app, let token):
            withdraw([id])
            giveResponses(to: app, activationToken: token, context)
        case .released(let apps):
            for app in apps { giveResponses(to: app, activationToken: nil, context) }
        case .responsesDropped(let app, let count) where count > 0:
            log(
                .warning, "Taps were dropped: their app could not be started.",
                [LogKey.topic: "\(app)", LogKey.count: "\(count)"])
        default: break
        }
    }

    private mutating func followAll(_ rest: FollowUp, _ context: Context) {
        if let session = context.session, !rest.stored.isEmpty {
            emit(.link(.stored(rest.stored, session: session)))
        }
        for (app, ids) in rest.handed { tell(app, [.handledConfirmed(notifications: ids)], .confirmHandled) }
        for (app, ids) in rest.responses { tell(app, [.responsesConfirmed(responses: ids)], .confirmResponse) }
        for (app, ids) in rest.taken { tell(app, [.channel(.takenConfirmed(messages: ids))], .confirmHandled) }
        for app in rest.filled { giveData(.stored, to: app, context) }
        for app in rest.deletions { tellDeletions(to: app, context) }
        for app in rest.awaited {
            hand(.stored, to: app, context)
            supervise(.stored, app: app, context: context)
        }
        for (id, app) in rest.extending { emit(.extend(.arrived(id, app: app))) }
    }

    /// Counts a notification that was stored. After every ``PruningTrigger/interval`` of them their apps are pruned.
    private mutating func noteStored(_ app: BundleID) {
        if let apps = pruning.noteStored(app) { emit(.prune(apps)) }
    }

    /// A batch was not stored, or the store could not be read. Nothing was confirmed as stored: the server and the apps
    /// repeat it on their next connections, and the presenter is asked again.
    package mutating func storeFailed(_ context: Context) {
        emit(.link(.closeSession))
        for connection in apps.values.flatMap(\.allConnections) { emit(.close(connection)) }
        _ = batch.takeWaiting()
        for identifier in terminals.identifiers { failTerminal(identifier, "the agent's store failed") }
        presentations = PresentationFlow(inherited: presentations.unanswered)
        updateSchedule(.storeFailed, context)
        emit(.reloadExtensions)
    }
}
