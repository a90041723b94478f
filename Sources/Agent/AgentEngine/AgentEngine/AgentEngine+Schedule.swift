import AgentProtocol
import Logging
import PushCore
import Scheduling

/// Requests that wait for their time or place. `RequestSchedule` decides when they fire.
///
/// An occurrence is stored in the transaction that stores its notification, so that it fires once, whenever the agent
/// ends.
extension AgentEngine {
    /// The clocks, time zones and policies that the schedule reads.
    package func scheduleSurroundings(_ context: Context) -> RequestSchedule.Surroundings {
        RequestSchedule.Surroundings(
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
        if let fault = schedule.fault(of: trigger, scheduleSurroundings(context)) { return fault }
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
            [LogKey.count: "\(left.count)"])
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
        log(.error, "What waits for its time could not be read.", [LogKey.error: "\(error)"])
    }

    // MARK: Events

    /// Passes an event to the schedule, and follows its directives.
    package mutating func updateSchedule(_ event: RequestSchedule.Event, _ context: Context) {
        var events = [event]
        var next = 0
        while next < events.count {
            for directive in schedule.handle(events[next], scheduleSurroundings(context)) {
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
                [LogKey.topic: "\(app ?? "")", LogKey.due: "\(occurrence.date)"])
            enqueue(.missed(key: key, occurrence: occurrence, isLast: isLast))
        case .never(let key, let app):
            log(
                .notice, "A notification that waited will not come: no other time matches.",
                [LogKey.topic: "\(app)"])
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
                [LogKey.topic: "\(waiting.app)"])
            return .appMissing(key: key)
        }
        if lateBy > MissedPolicy.grace {
            log(
                .notice, "A notification comes late.",
                [LogKey.topic: "\(waiting.app)", LogKey.milliseconds: "\(lateBy)"])
        }
        presentBadgeOrSoundOnly(plan, of: waiting.app)
        enqueue(
            .due(
                DueRequest(
                    key: key, app: waiting.app, request: waiting.request, occurrence: occurrence, isLast: isLast),
                isAsked: plan.isAsked, shows: plan.showing, at: context.now))
        return nil
    }
}
