import AgentWire
import DeviceModel
import DeviceStore
import InstalledApps
import Logging
import Observability
import PresentationPlanning
import PushModel

extension Agent {
    // MARK: The store

    /// Adds a change to the batch, which is committed after the work that is on the event loop already.
    func enqueue(_ change: StoreChange) {
        if batch.add(change) { enter { $0.flush() } }
    }

    /// Commits the batch and does what follows from it.
    ///
    /// - Returns: Whether all that was to be stored is on the disk.
    @discardableResult func flush() -> Bool {
        let (changes, filesToDelete) = batch.take()
        guard !changes.isEmpty else { return true }
        do {
            let results = try store.commit(changes)
            attachments.release(filesToDelete)
            // An app hears that its command is durable before it hears what came of it.
            sendConfirmations()
            followCommit(results)
        } catch {
            attachments.drop(changes.flatMap(\.copiedFiles))
            // Nobody would tell again what people did.
            if batch.failed(changes) { enter(after: timing.storePause) { $0.flush() } }
            storeFailed(error)
            return false
        }
        presentations.committed()
        sendPresentations()
        onLink { $0.receiptsCommitted() }
        return true
    }

    /// Nothing of the batch is stored, so nobody was told that it is: the server and the apps will say it again
    /// on their next connections, and the presenter is asked again.
    func storeFailed(_ error: any Error) {
        logger.error(
            "The agent's store failed; all connections are opened anew.",
            metadata: [
                LogKey.error: "\(error)"
            ])
        onLink { $0.closeSession() }
        for connection in apps.values.flatMap(\.allConnections) { connection.close() }
        _ = batch.takeWaiting()
        for identifier in terminals.identifiers { failWaiter(identifier, "the agent's store failed") }
        presentations = PresentationFlow(inherited: presentations.unanswered)
        loadScheduleLater()
        loadExtendingLater()
    }

    private func followCommit(_ results: [ChangeResult]) {
        let session = onLink { $0.sessionNumber } ?? nil
        var stored: [NotificationID] = []
        var arrived: [(id: NotificationID, app: BundleID)] = []
        var awaited: Set<BundleID> = []
        var noticed: Set<BundleID> = []
        var filled: Set<BundleID> = []
        var taken: [BundleID: [Int64]] = [:]
        var handed: [BundleID: [Int64]] = [:]
        var responses: [BundleID: [Int64]] = [:]
        for result in results {
            switch result {
            case .stored(let id, let app, let origin, let isNew, let isAwaited):
                if isNew { noteStored(app) }
                if origin == session { stored.append(id) }
                if isAwaited { awaited.insert(app) }
            case .noticed(let id, let app, let origin, let withdrawn):
                if origin == session { stored.append(id) }
                noticed.insert(app)
                for id in withdrawn { withdraw(id) }
            case .extending(let id, let app, let origin, let isNew):
                if origin == session { stored.append(id) }
                if isNew { arrived.append((id, app)) }
            case .extended(_, let app, let isAwaited):
                noteStored(app)
                if isAwaited { awaited.insert(app) }
            case .dataStored(let id, let app, let origin, let isNew, let cleared):
                if origin == session { stored.append(id) }
                if isNew { filled.insert(app) }
                if cleared { noticed.insert(app) }
            case .upstreamQueued(let waiter, let fault): upstreamQueued(waiter: waiter, fault: fault)
            case .upstreamEnded(let ended): upstreamEnded(ended)
            case .topicWished(let waiter, let fault): topicWished(waiter: waiter, fault: fault)
            case .dataTaken(let id, let app): taken[app, default: []].append(id.rawValue)
            case .handed(let id, let app): handed[app, default: []].append(id.rawValue)
            case .responseHandled(let response, let app): responses[app, default: []].append(response)
            case .tapped(let id, let app, let token):
                answer(id, of: app, activationToken: token)
            case .released(let apps):
                for app in apps { giveResponses(to: app, activationToken: nil) }
            case .responsesDropped(let app, let count) where count > 0:
                logger.warning(
                    "Taps were dropped: their app could not be started.",
                    metadata: [
                        LogKey.topic: "\(app)", LogKey.count: "\(count)",
                    ])
            case .fired(_, let app, let identifier, let isAsked, let isOnScreen):
                noteStored(app)
                if isAsked { awaited.insert(app) }
                if app == AppManifest.terminalID, !isAsked, !isOnScreen {
                    failWaiter(identifier, "too many notifications wait for the screen already")
                }
            case .unlisted(let ids):
                for id in ids { withdraw(id) }
            case .scheduled(let waiting, let replaced, let dropped):
                if !dropped.isEmpty {
                    logger.warning(
                        "More wait than may: what was added first does not come.",
                        metadata: [LogKey.topic: "\(waiting.app)", LogKey.count: "\(dropped.count)"])
                }
                updateSchedule(.stored(waiting, replaced: replaced + dropped))
            case .unscheduled(let keys): updateSchedule(.removed(keys))
            case .presented(let id): presentations.answered(id)
            case .appRemoved(let ids):
                for id in ids { withdraw(id) }
                removeUnstoredFromSchedule()
            case .responsesDropped, .nothing: break
            }
        }
        if let session, !stored.isEmpty { onLink { [stored] in $0.stored(stored, in: session) } }
        for (app, ids) in handed {
            AgentStep.confirmHandled.take {
                apps[app]?.connection?.send([.handledConfirmed(notifications: ids)])
            }
        }
        for (app, ids) in responses {
            AgentStep.confirmResponse.take {
                apps[app]?.connection?.send([.responsesConfirmed(responses: ids)])
            }
        }
        for (app, ids) in taken {
            AgentStep.confirmHandled.take {
                apps[app]?.connection?.send([.channel(.takenConfirmed(messages: ids))])
            }
        }
        for app in filled { giveData(.stored, to: app) }
        for app in noticed { tellDeletions(to: app) }
        for app in awaited {
            hand(.stored, to: app)
            supervise(.stored, app)
        }
        for (id, app) in arrived { updateExtensions(.arrived(id, app: app)) }
    }

    // MARK: Handing over

    /// Passes an event to an app's ``AppDelivery``, and follows its directives.
    func hand(_ event: AppDelivery.Event, to app: BundleID) {
        var directives = apps[app]?.delivery.handle(event) ?? []
        var messages: [AgentMessage] = []
        var next = 0
        do {
            while next < directives.count {
                defer { next += 1 }
                switch directives[next] {
                case .read(let place, let limit):
                    let page = try store.read { try $0.waiting(app: app, after: place, limit: limit) }
                    directives += apps[app]?.delivery.handle(.page(page, limit: limit)) ?? []
                case .readResponses(let place, let limit):
                    let page = try store.read { try $0.waitingResponses(app: app, after: place, limit: limit) }
                    directives += apps[app]?.delivery.handle(.responsePage(page, limit: limit)) ?? []
                case .deliver(let notification, let kind):
                    messages.append(.deliver(registry.delivered(notification), kind: kind))
                case .respond(let response):
                    messages.append(
                        .respond(
                            response: response.sequence, notification: registry.delivered(response.notification),
                            action: response.action, userText: response.text))
                case .record(let id, let shows, let setsBadge):
                    let isAsked = shows != .nothing || setsBadge
                    let content = isAsked ? try store.read { try $0.notification(id)?.says } : nil
                    let allowed = try allowed(shows, of: id, content, app: app, setsBadge: setsBadge)
                    if shows.contains(.sound), !allowed.contains(.screen) { try playAlone(id, content, app: app) }
                    enqueue(.handed(id, app: app, shows: allowed, at: parts.now()))
                case .appear(let notification, let isForApp):
                    let shows = showing(of: notification.says, app: app)
                    enqueue(.appeared(notification.id, shows, isForApp: isForApp, at: parts.now()))
                case .recordResponse(let response):
                    enqueue(.responseHandled(response, app: app, at: parts.now()))
                }
            }
        } catch {
            return storeFailed(error)
        }
        guard let connection = apps[app]?.connection else { return }
        for (step, said) in AgentStep.grouped(messages) { step.take { connection.send(said) } }
        watchAnswers(of: app)
    }

    /// Shows what an app was asked about and did not answer in time: it may be stopped or hang.
    private func watchAnswers(of app: BundleID) {
        guard let installed = apps[app], installed.delivery.awaitsAnswers, !installed.isWatched else { return }
        apps[app]?.isWatched = true
        enter(after: timing.answerPatience) { agent in
            agent.apps[app]?.isWatched = false
            agent.hand(.answersDue, to: app)
            agent.watchAnswers(of: app)
        }
    }

    /// How a notification appears: as its app wants, as far as the person's settings allow. Where `setsBadge`, its badge is
    /// applied too.
    private func allowed(
        _ wish: PresentationOptions, of id: NotificationID, _ content: NotificationContent?, app: BundleID,
        setsBadge: Bool
    ) throws -> PresentationOptions {
        guard let content else { return wish }
        if setsBadge, try store.read({ try $0.isUnhandled(id) }) {
            if let badge = plan(content, app: app)?.badge { applyBadge(badge, app: app) }
        }
        let allowed = showing(of: content, app: app)
        // What may not come to the screen at this time is in the list at least.
        return wish.contains(.screen) && allowed.isListOnly ? .list : wish.intersection(allowed)
    }

    /// Plays the sound of a notification whose app wants it heard, and whose text does not come to the screen.
    private func playAlone(_ id: NotificationID, _ content: NotificationContent?, app: BundleID) throws {
        guard let content, try store.read({ try $0.isUnhandled(id) }), plan(content, app: app)?.sounds == true else {
            return
        }
        play(content.sound, of: apps[app]?.manifest)
    }

    // MARK: Presenting

    func sendPresentations() {
        do {
            while presentations.wantsPage {
                let page = try store.read { try $0.wanted(limit: PresentationFlow.window) }
                for (notification, again) in presentations.take(page) { present(notification, again: again) }
            }
        } catch {
            storeFailed(error)
        }
    }

    func withdraw(_ id: NotificationID) { AgentStep.withdraw.take { parts.presenter.withdraw(id) } }

    private func present(_ notification: WaitingNotification, again: Bool) {
        let shown = presentation(of: notification)
        AgentStep.present.take {
            parts.presenter.present(shown) { [weak self] outcome in
                self?.enter { agent in
                    if case .failed(let reason) = outcome {
                        agent.failWaiter(of: notification, reason)
                        agent.logger.warning(
                            "A notification could not be shown.",
                            metadata: [
                                LogKey.notification: "\(notification.id)", LogKey.error: "\(reason)",
                            ])
                    }
                    agent.enqueue(.presented(notification.id, outcome, again: again, at: agent.parts.now()))
                    if case .presented(_?, _) = outcome { agent.addStill(to: notification) }
                }
            }
        }
    }
}
