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
        var services: Set<String> = []
        var handled: [BundleID: [Int64]] = [:]
        var taken: [BundleID: [Int64]] = [:]
        var responses: [BundleID: [Int64]] = [:]
    }

    /// The changes of a batch are on the disk.
    package mutating func committed(_ results: [ChangeResult], _ context: Context) {
        // An app receives the confirmation of its command before the outcome.
        sendConfirmations()
        sendActivityAnswers()
        var rest = FollowUp()
        for result in results {
            switch result {
            case .stored, .noticed, .extending, .extended, .dataStored, .pushMessageStored:
                followArrival(result, &rest, session: context.session)
            case .handled(let id, let app): rest.handled[app, default: []].append(id.rawValue)
            case .dataTaken(let id, let app): rest.taken[app, default: []].append(id.rawValue)
            case .responseHandled(let response, let app): rest.responses[app, default: []].append(response.rawValue)
            case .fired, .scheduled, .unscheduled, .unlisted, .appRemoved:
                followRequest(result, rest: &rest, context: context)
            case .tapped, .released, .responsesDropped: followResponse(result, context)
            case .presented(let id): presentations.answered(id)
            case .upstreamQueued(let waiter, let fault): upstreamQueued(waiter: waiter, fault: fault, context)
            case .upstreamEnded(let ended): sendUpstreamEnds(ended)
            case .topicChangeRequested(let waiter, let fault): topicChangeRequested(waiter: waiter, fault: fault)
            case .runEnded(let app, let counted, let givenUp):
                attemptsCounted(of: app, counted: counted, givenUp: givenUp, context)
            case .liveActivity(let record): sendActivity(record, context)
            case .unifiedPush(let result): updateUnifiedPush(.committed(result), context)
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
        case .pushMessageStored(let id, let service, let origin):
            if origin == session { rest.stored.append(id) }
            if let service { rest.services.insert(service) }
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
            if !dropped.isEmpty, apps[waiting.app]?.reaches(.pendingRequests) == true {
                log(
                    .warning, "More wait than may: what was added first does not come.",
                    metadata: [LogKey.topic: "\(waiting.app)", LogKey.count: "\(dropped.count)"])
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
                metadata: [LogKey.topic: "\(app)", LogKey.count: "\(count)"])
        default: break
        }
    }

    private mutating func followAll(_ rest: FollowUp, _ context: Context) {
        if let session = context.session, !rest.stored.isEmpty {
            emit(.link(.acknowledge(rest.stored, session: session)))
        }
        for (app, ids) in rest.handled {
            sendMessages(to: app, [.handledConfirmed(notifications: ids)], step: .confirmHandled)
        }
        for (app, ids) in rest.responses {
            sendMessages(to: app, [.responsesConfirmed(responses: ids)], step: .confirmResponse)
        }
        for (app, ids) in rest.taken {
            sendMessages(to: app, [.channel(.takenConfirmed(messages: ids))], step: .confirmHandled)
        }
        for app in rest.filled { giveData(.stored, to: app, context) }
        for service in rest.services.sorted() {
            updateUnifiedPush(.committed(.stored(service: service)), context)
        }
        for app in rest.deletions { sendDeletions(to: app, context) }
        for app in rest.awaited {
            hand(.stored, to: app, context)
            supervise(called.remove(app) == nil ? .stored : .called, app: app, context: context)
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
        updateUnifiedPush(.storeFailed, context)
        emit(.reloadExtensions)
    }
}

/// Delivery to apps: notifications and responses, data messages, and deletions on the server.
extension AgentEngine {
    /// Passes an event to an app's `AppDelivery`, and follows its directives.
    package mutating func hand(_ event: AppDelivery.Event, to app: BundleID, _ context: Context) {
        var directives = apps[app]?.delivery.handle(event) ?? []
        var messages: [AgentMessage] = []
        var next = 0
        do {
            while next < directives.count {
                defer { next += 1 }
                switch directives[next] {
                case .read(let place, let limit):
                    let page = try context.store.waiting(app: app, after: place, limit: limit)
                    directives += apps[app]?.delivery.handle(.page(page, limit: limit)) ?? []
                case .readResponses(let place, let limit):
                    let page = try context.store.waitingResponses(app: app, after: place, limit: limit)
                    directives += apps[app]?.delivery.handle(.responsePage(page, limit: limit)) ?? []
                case .deliver(let notification, let kind):
                    messages.append(.deliver(registry.delivered(notification), kind: kind))
                case .respond(let response):
                    messages.append(
                        .respond(
                            response: response.sequence.rawValue,
                            notification: registry.delivered(response.notification),
                            action: response.action, userText: response.text))
                case .record(let id, let shows, let setsBadge):
                    let allowed = try shown(shows, setsBadge: setsBadge, of: id, app: app, context)
                    enqueue(.handled(id, app: app, shows: allowed, at: context.now))
                case .recordUntakenCall(let id): enqueue(.callNotTaken(id, app: app, at: context.now))
                case .appear(let notification, let isForApp):
                    let shows = plan(notification.effectiveContent, app: app, context)?.showing ?? .nothing
                    enqueue(.appeared(notification.id, shows, isForApp: isForApp, at: context.now))
                case .recordResponse(let response):
                    enqueue(.responseHandled(response, app: app, at: context.now))
                }
            }
        } catch {
            return fail(error)
        }
        guard apps[app]?.connection != nil else { return }
        for (step, said) in AgentStep.grouped(messages) { sendMessages(to: app, said, step: step) }
        watchAnswers(of: app)
    }

    /// Has what an app is asked about appear when it does not answer in time: it may be stopped or hang.
    private mutating func watchAnswers(of app: BundleID) {
        guard let installed = apps[app], installed.delivery.awaitsAnswers, !installed.isWatched else { return }
        apps[app]?.isWatched = true
        emit(.wait(timing.answerTimeout, then: .answersDue(app)))
    }

    mutating func answersDue(_ app: BundleID, _ context: Context) {
        apps[app]?.isWatched = false
        hand(.answersDue, to: app, context)
        watchAnswers(of: app)
    }

    /// The presentation of a notification that its app has handled: as the app wants, as far as the person's settings
    /// allow. A sound without text is played, and where `setsBadge`, the badge is applied.
    private mutating func shown(
        _ wish: PresentationOptions, setsBadge: Bool, of id: NotificationID, app: BundleID, _ context: Context
    ) throws -> PresentationOptions {
        guard wish != .nothing || setsBadge, let content = try context.store.notification(id)?.effectiveContent,
            let plan = plan(content, app: app, context)
        else { return wish }
        // A notification that may not appear on the screen at this time is at least in the list.
        let allowed =
            wish.contains(.screen) && plan.showing.isListOnly ? .list : wish.intersection(plan.showing)
        let badge = setsBadge ? plan.badge : nil
        let isHeard = wish.contains(.sound) && !allowed.contains(.screen) && plan.sounds
        guard badge != nil || isHeard, try context.store.isUnhandled(id) else { return allowed }
        if let badge { applyBadge(badge, app: app) }
        if isHeard { play(content.sound, of: app, context) }
        return allowed
    }

    /// Passes an event to an app's `ChannelDelivery`, and follows its directives.
    package mutating func giveData(_ event: ChannelDelivery.Event, to app: BundleID, _ context: Context) {
        var directives = apps[app]?.channel.handle(event) ?? []
        var messages: [AgentMessage] = []
        var next = 0
        do {
            while next < directives.count {
                defer { next += 1 }
                switch directives[next] {
                case .read(let place, let limit):
                    let page = try context.store.waitingData(app: app, after: place, limit: limit, at: context.now)
                    directives += apps[app]?.channel.handle(.page(page, limit: limit)) ?? []
                case .deliver(let message): messages.append(.channel(.message(message.delivered)))
                case .record(let id): enqueue(.dataTaken(id, app: app, at: context.now))
                }
            }
        } catch {
            return fail(error)
        }
        sendMessages(to: app, messages, step: .handOver)
    }

    /// Sends a connected app the deletions on the server, until it has confirmed them.
    mutating func sendDeletions(to app: BundleID, _ context: Context) {
        guard apps[app]?.connection != nil else { return }
        do {
            let deletions = try context.store.deletions(app: app)
            if !deletions.isEmpty { apps[app]?.attempts.wasTold = true }
            sendMessages(
                to: app,
                deletions.map {
                    .messagesDeleted(deletion: $0.id.rawValue, count: $0.count, since: $0.since.rawValue)
                }, step: .handOver)
        } catch {
            fail(error)
        }
    }
}

/// The presentation of notifications now, and the effects of a change. `PresentationComposer` composes each one's look.
extension AgentEngine {
    private static let refreshLimit = 200

    // MARK: Plans

    /// The conditions that decide how an app's notifications appear now.
    package func conditions(of app: InstalledApp, _ context: Context) -> PresentationConditions {
        PresentationConditions(
            standing: app.record, policy: app.manifest.authorization, isLocked: screenAndQuietHours.isScreenLocked,
            isQuietTime: screenAndQuietHours.isQuietTime(at: context.now))
    }

    /// How content appears now; `nil` where its app is not installed.
    func plan(_ content: NotificationContent, app: BundleID, _ context: Context) -> PresentationPlan? {
        apps[app].map { conditions(of: $0, context).plan(content) }
    }

    /// How a notification appears and who gets it; `nil` where its app is not installed.
    func planned(_ received: ReceivedNotification, for app: BundleID, _ context: Context) -> PlannedNotification? {
        guard let installed = apps[app] else { return nil }
        return received.planned(
            under: conditions(of: installed, context), isInFront: installed.isInFront,
            takesEverything: installed.takesEverything)
    }

    /// The badge, and the sound of what shows no text.
    mutating func presentBadgeOrSoundOnly(_ plan: PlannedNotification, of app: BundleID, _ context: Context) {
        if let badge = plan.badge { applyBadge(badge, app: app) }
        if let sound = plan.sound { play(sound, of: app, context) }
    }

    mutating func play(_ sound: NotificationSound?, of app: BundleID, _ context: Context) {
        let shown = PresentationComposer.sound(sound, of: apps[app]?.manifest, hasFile: context.hasFile)
        emit(.play(shown, volume: sound?.volume))
    }

    mutating func withdraw(_ ids: [NotificationID]) { for id in ids { emit(.withdraw(id)) } }

    // MARK: The screen

    /// The presentation of a notification, as the presenter receives it.
    package func presentation(of notification: WaitingNotification, _ context: Context) -> Presentation {
        PresentationComposer(
            registry: registry, conditions: { self.conditions(of: $0, context) },
            isAwaited: { $0.app == AppManifest.terminalID && terminals.isAwaited($0.identifier) },
            hasFile: context.hasFile
        ).presentation(of: notification)
    }

    /// Has the presenter asked for what is wanted, as far as its window goes.
    package mutating func sendPresentations(_ context: Context) {
        do {
            while presentations.wantsPage {
                let page = try context.store.wanted(limit: PresentationFlow.window)
                for (notification, again) in presentations.take(page) {
                    emit(.present(presentation(of: notification, context), notification, again: again))
                }
            }
        } catch {
            fail(error)
        }
    }

    /// The presenter has answered. `again`: an earlier run may have shown the notification already.
    package mutating func presented(
        _ notification: WaitingNotification, outcome: PresentationOutcome, again: Bool, context: Context
    ) {
        if case .failed(let reason) = outcome {
            if notification.app == AppManifest.terminalID {
                failTerminal(notification.identifier, "it could not be shown: \(reason)")
            }
            log(
                .warning, "A notification could not be shown.",
                metadata: [LogKey.notification: "\(notification.id)", LogKey.error: "\(reason)"])
        }
        enqueue(.presented(notification.id, outcome, again: again, at: context.now))
    }

    /// The still of a movie is made: the notification is shown with it, in its place and without a sound.
    package mutating func stillMade(of id: NotificationID, _ context: Context) {
        do {
            guard let notification = try context.store.notification(id) else { return }
            var shown = presentation(of: notification, context)
            // There is no still picture where the text is hidden by now.
            guard shown.still != nil else { return }
            shown.sound = .silent
            emit(.update(shown))
        } catch {
            fail(error)
        }
    }

    /// The desktop has reported whether the screen is locked.
    mutating func screenChanged(isLocked: Bool, _ context: Context) {
        if screenAndQuietHours.screenChanged(isLocked: isLocked) { refreshPreviews(context) }
        followWindowFocus()
        if !isLocked { enqueue(.released) }
    }

    /// The screen was locked or unlocked. Updates the notifications on it, and those that may come to it, of apps whose
    /// text is shown on an unlocked screen only.
    mutating func refreshPreviews(_ context: Context) {
        let shown: [WaitingNotification]
        do {
            shown = try context.store.visible(limit: Self.refreshLimit)
        } catch {
            fail(error)
            // Text must not stay readable because of that: it is tried again.
            return emit(.wait(timing.storePause, then: .refreshPreviews))
        }
        for notification in shown where apps[notification.app]?.record.settings.previews == .whenUnlocked {
            var presentation = presentation(of: notification, context)
            presentation.sound = .silent
            emit(.update(presentation))
        }
    }
}
