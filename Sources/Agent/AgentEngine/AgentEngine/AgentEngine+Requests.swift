import AgentProtocol
import Logging
import PushCore
import Scheduling

/// Handling of the apps' notification-center commands.
extension AgentEngine {
    /// Takes a command of an app, and answers it; what was ordered is confirmed when it is durable. The batch must be
    /// committed before what asks for requests or the list.
    package mutating func handleCenterCommand(
        _ command: NotificationCenterCommand, request: Int64, from app: BundleID, connection: AppConnectionID,
        context: Context
    ) {
        do {
            if let answer = try answer(command, app: app, connection, context) {
                send([.centerAnswered(request: request, answer)], to: connection)
            } else {
                confirm(Confirmation(connection: connection, request: request))
            }
        } catch {
            fail(error)
        }
    }

    /// - Returns: The answer; `nil` for a command that is confirmed when it is durable.
    private mutating func answer(
        _ command: NotificationCenterCommand, app: BundleID, _ connection: AppConnectionID, _ context: Context
    ) throws -> CenterAnswer? {
        switch command {
        // A conversation has it examined and stored (`AppConversations`).
        case .add: break
        case .removePending(let identifiers): enqueue(.unscheduled(app: app, identifiers: identifiers))
        case .removeDelivered(let identifiers):
            enqueue(.unlisted(app: app, identifiers: identifiers))
            // Those of activities are no notifications of the app's list.
            if identifiers == nil { showActivities(of: app, context) { _ in true } }
        case .setCategories(let categories):
            setCategories(categories, byExtension: registry.role(of: connection)?.role == .serviceExtension, app: app)
        case .setBadge(let badge): return setBadge(badge, app: app)
        case .categories: return .categories(apps[app]?.record.categories ?? [])
        case .badge: return .badge(apps[app]?.record.badge ?? 0)
        case .pending: return .pending(fitting(try context.store.pending(app: app).map(\.request), app: app))
        case .delivered:
            let listed = try context.store.listed(app: app, limit: AnswerLimits.listed)
            let own = listed.filter { LiveActivityRecord.id(ofIdentifier: $0.identifier) == nil }
            return .delivered(fitting(own.map { registry.delivered($0) }, app: app))
        }
        return nil
    }

    /// The newest values that fit into one answer. The log says once for an app that others were left out.
    private mutating func fitting<Value: Encodable>(_ values: [Value], app: BundleID) -> [Value] {
        let kept = AnswerLimits.fitting(values)
        if kept.count < values.count, apps[app]?.reaches(.listInAnswer) == true {
            log(
                .notice, "An app was given the newest of its notifications, since all do not fit into one answer.",
                metadata: [LogKey.topic: "\(app)", LogKey.count: "\(values.count - kept.count)"])
        }
        return kept
    }

    private mutating func setCategories(_ categories: [NotificationCategory], byExtension: Bool, app: BundleID) {
        var removed: [String] = []
        change(app) { removed = $0.merge(categories, byExtension: byExtension) }
        guard let first = removed.first, apps[app]?.reaches(.categories) == true else { return }
        log(
            .notice,
            "An app has more than \(AppNotificationRecord.categoryLimit) categories: the oldest are removed, first "
                + "\"\(first.prefix(100))\".",
            metadata: [LogKey.topic: "\(app)", LogKey.count: "\(removed.count)"])
    }

    // MARK: Requests

    /// Returns whether a request of an app may be added; answers one that may not. Where it waits for a place, the
    /// batch must be committed before.
    package mutating func examine(
        _ added: AddedRequest, of app: BundleID, connection: AppConnectionID, context: Context
    ) throws -> AppConversations.Event {
        guard registry.role(of: connection)?.role != .serviceExtension else {
            refuseUnstarted(connection, of: app)
            return .refused
        }
        let installed = apps[app]
        let refusal = try RequestRules.refusal(
            of: added.request,
            authorization: installed.map { $0.record.authorization(under: $0.manifest.authorization) },
            triggerFault: { try fault(of: $0, of: added.request.identifier, app: app, context) })
        guard let refusal else { return .approved }
        send([.centerAnswered(request: added.number, refusal)], to: connection)
        return .disapproved
    }

    /// Stores a request that was examined: it waits for its time or place, or fires at once.
    package mutating func addRequest(
        _ request: NotificationRequest, as mark: RequestMark?, app: BundleID, _ context: Context
    ) {
        guard request.trigger == nil else { return scheduleRequest(request, as: mark, app: app, context) }
        let received = ReceivedNotification(content: request.content, source: .app)
        guard let plan = planned(received, for: app, context) else { return }
        presentBadgeOrSoundOnly(plan, of: app, context)
        enqueue(.fired(app: app, request, as: mark, isAsked: plan.isAsked, shows: plan.showing, at: context.now))
    }

    /// Answers that the files of a request cannot be taken.
    package mutating func refuseFiles(
        of added: AddedRequest, code: Int, _ message: String, _ connection: AppConnectionID
    ) {
        let answer: AgentMessage =
            switch added.asker {
            case .app: .centerAnswered(request: added.number, .failed(code: code, message: message))
            case .terminal: .managed(request: added.number, .failed(message: message))
            }
        send([answer], to: connection)
    }

    // MARK: The badge

    private mutating func setBadge(_ badge: Int, app: BundleID) -> CenterAnswer? {
        guard badge >= -1, badge <= Int(Int32.max) else {
            return .failed(code: RequestRules.Code.badgeInvalid, message: "a badge is a number from 0; -1 hides it")
        }
        change(app) { $0.badge = max(0, badge) }
        // 0 takes the list with it, -1 hides the number alone.
        if badge == 0 { enqueue(.unlisted(app: app, identifiers: nil)) }
        return nil
    }

    /// Sets the badge of an app's icon from a notification that appears; 0 also clears the app's list.
    mutating func applyBadge(_ badge: Int, app: BundleID) {
        change(app) { $0.badge = badge }
        if badge == 0 { enqueue(.unlisted(app: app, identifiers: nil)) }
    }

    /// Shows an app's badge on its icon, as far as the person's settings allow.
    package mutating func showBadge(of app: BundleID) {
        guard let installed = apps[app] else { return }
        emit(.badge(installed.shownBadge, desktopEntry: installed.manifest.desktopEntry ?? app.rawValue))
    }

    // MARK: Settings

    /// Changes what is settled for an app, durably.
    mutating func change(_ app: BundleID, _ body: (inout AppNotificationRecord) -> Void) {
        guard var record = apps[app]?.record else { return }
        body(&record)
        guard let before = apps[app], record != before.record else { return }
        apps[app]?.record = record
        apps[app]?.refreshAuthorization()
        enqueue(.standing(app: app, record))
        guard let after = apps[app] else { return }
        if after.shownBadge != before.shownBadge { showBadge(of: app) }
        if after.record.settings.missedPolicy != before.record.settings.missedPolicy { emit(.rereadRequests(app)) }
        // Notifications of an app that is no longer allowed leave the screen and the list.
        if before.delivery.mayShow, !after.delivery.mayShow { enqueue(.unlisted(app: app, identifiers: nil)) }
    }

    /// The notification settings that an app receives.
    func notificationSettings(of app: BundleID) -> NotificationSettings {
        apps[app].map { $0.record.settings(under: $0.manifest.authorization) }
            ?? AppNotificationRecord().settings(under: .denied)
    }
}

/// Requests that wait for their time or place. `RequestSchedule` decides when they fire.
///
/// An occurrence is stored in the transaction that stores its notification, so that it fires once, whenever the agent
/// ends.
extension AgentEngine {
    /// The clocks, time zones and policies that the schedule reads.
    package func scheduleContext(_ context: Context) -> RequestSchedule.ScheduleContext {
        RequestSchedule.ScheduleContext(
            now: context.clock, zones: settings.zones,
            missedPolicy: { [apps] in apps[$0]?.record.settings.missedPolicy ?? .standard })
    }

    /// Stores a request that is to wait for its time or place.
    mutating func scheduleRequest(
        _ request: NotificationRequest, as mark: RequestMark?, app: BundleID, _ context: Context
    ) {
        enqueue(
            .scheduled(
                app: app, request, as: mark, at: context.clock,
                offset: settings.zones(.floating)?.offset(at: context.clock.wall)))
    }

    /// Why a trigger is refused; `nil` for one that can wait. For a place, the batch must be committed before.
    package func fault(
        of trigger: NotificationTrigger, of identifier: String, app: BundleID, _ context: Context
    ) throws -> String? {
        if let fault = schedule.fault(of: trigger, scheduleContext(context)) { return fault }
        guard case .region = trigger else { return nil }
        return RequestSchedule.faultOfRegions(
            with: identifier, others: try context.store.pending(app: app).map(\.request))
    }

    // MARK: Requests in the store

    /// Reads all scheduled requests. The batch must be committed before. A request that cannot be decoded stays in the
    /// store, and is logged.
    package mutating func loadSchedule(_ context: Context) {
        var left: Set<RequestKey> = []
        readPending(context) {
            let requests = try context.store.pending(app: nil)
            left = try context.store.pendingKeys().subtracting(requests.map(\.key))
            return .loaded(requests)
        }
        guard !left.isEmpty else { return }
        log(
            .warning, "Requests that wait cannot be decoded and do not come; another version may have written them.",
            metadata: [LogKey.count: "\(left.count)"])
    }

    /// Reads an app's requests again: it was installed, or its settings have changed. The batch must be committed
    /// before.
    package mutating func rereadRequests(of app: BundleID, _ context: Context) {
        guard schedule.isLoaded else { return }
        readPending(context) { .reread(try context.store.pending(app: app)) }
    }

    /// Rows have left the store, and it is not known which.
    mutating func removeUnstoredFromSchedule(_ context: Context) {
        readPending(context) { .retained(try context.store.pendingKeys()) }
    }

    private mutating func readPending(_ context: Context, _ read: () throws -> RequestSchedule.Event) {
        do {
            updateSchedule(try read(), context)
        } catch {
            logUnreadable(error)
            updateSchedule(.storeFailed, context)
        }
    }

    private mutating func logUnreadable(_ error: any Error) {
        log(.error, "What waits for its time could not be read.", metadata: [LogKey.error: "\(error)"])
    }

    // MARK: Events

    /// Passes an event to the schedule, and follows its directives.
    package mutating func updateSchedule(_ event: RequestSchedule.Event, _ context: Context) {
        var events = [event]
        var next = 0
        while next < events.count {
            for directive in schedule.handle(events[next], scheduleContext(context)) {
                do {
                    if let event = try followSchedule(directive, context) { events.append(event) }
                } catch {
                    // The remaining directives are dropped: everything is loaded again.
                    return fail(error)
                }
            }
            next += 1
        }
    }

    /// - Returns: The event with which the schedule must be answered; `nil` for none.
    private mutating func followSchedule(
        _ directive: RequestSchedule.Directive, _ context: Context
    ) throws -> RequestSchedule.Event? {
        switch directive {
        case .fire(let key, let occurrence, let lateBy, let isLast):
            return try fireDue(key, occurrence: occurrence, lateBy: lateBy, isLast: isLast, context)
        case .missed(let key, let occurrence, let isLast):
            // The app's name is for the log alone.
            let app = (try? context.store.pending(key: key)?.app) ?? nil
            log(
                .notice, "A notification was missed, and is not shown: it is too late.",
                metadata: [LogKey.topic: "\(app ?? "")", LogKey.due: "\(occurrence.date)"])
            enqueue(.missed(key: key, occurrence: occurrence, isLast: isLast))
        case .never(let key, let app):
            log(
                .notice, "A notification that waited will not come: no other time matches.",
                metadata: [LogKey.topic: "\(app)"])
            enqueue(.missed(key: key, occurrence: context.clock.wall, isLast: true))
        case .anchored(let key, let added, let lastFired):
            enqueue(.anchored(key: key, added: added, lastFired: lastFired))
        case .crossed(let key, let side): enqueue(.crossed(key: key, side: side))
        case .arm(let instant): emit(.arm(instant))
        case .watchPosition(let isNeeded): emit(.watchPosition(isNeeded))
        case .load: emit(.loadSchedule)
        case .pause: emit(.wait(timing.storePause, then: .schedule(.pauseEnded)))
        case .read(let keys):
            do {
                return .reread(try keys.compactMap { try context.store.pending(key: $0) })
            } catch {
                logUnreadable(error)
                return .storeFailed
            }
        case .continue: emit(.wait(.zero, then: .schedule(.timePassed)))
        case .log(let notice): emit(.logSchedule(notice))
        }
        return nil
    }

    /// - Parameter occurrence: `nil` for a crossing of a region's edge.
    private mutating func fireDue(
        _ key: RequestKey, occurrence: Timestamp?, lateBy: Int64, isLast: Bool, _ context: Context
    ) throws -> RequestSchedule.Event? {
        // The request may have been withdrawn meanwhile.
        guard let waiting = try context.store.pending(key: key) else { return .removed([key]) }
        let received = ReceivedNotification(content: waiting.request.content, source: .app)
        guard let plan = planned(received, for: waiting.app, context) else {
            log(
                .info, "A notification whose app is not installed does not come now.",
                metadata: [LogKey.topic: "\(waiting.app)"])
            return .appMissing(key: key)
        }
        if lateBy > MissedPolicy.grace {
            log(
                .notice, "A notification comes late.",
                metadata: [LogKey.topic: "\(waiting.app)", LogKey.milliseconds: "\(lateBy)"])
        }
        presentBadgeOrSoundOnly(plan, of: waiting.app, context)
        enqueue(
            .due(
                DueRequest(
                    key: key, app: waiting.app, request: waiting.request, occurrence: occurrence, isLast: isLast),
                isAsked: plan.isAsked, shows: plan.showing, at: context.now))
        return nil
    }
}

/// Handling of timers whose delay has passed.
extension AgentEngine {
    /// The time of a ``AgentTimer`` has passed. Before an event of the presenter the batch must be committed, as before
    /// ``handlePresenterEvent(_:_:)``; that of ``AgentTimer/lookForApp(_:)`` is for ``lookForApp(_:_:load:)``.
    package mutating func timePassed(_ timer: AgentTimer, _ context: Context) {
        switch timer {
        case .supervise(let event, let app): supervise(event, app: app, context: context)
        case .answersDue(let app): answersDue(app, context)
        case .giveResponses(let app, let token): giveResponses(to: app, activationToken: token, context)
        case .expire(let moment): expire(moment, context)
        case .liveActivities(let moment): settleActivities(.timePassed(moment), context)
        case .forgetQuestion(let id, let app): forgetQuestion(id, of: app)
        case .presenterEvent(let event):
            waitingEvents.count -= 1
            handlePresenterEvent(event, context)
        case .refreshPreviews: refreshPreviews(context)
        case .schedule(let event): updateSchedule(event, context)
        case .lookForApp: break
        }
    }
}
