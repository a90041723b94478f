import AgentWire
import DeviceModel
import DevicePorts
import DeviceStore
import LocalSchedule
import Logging
import Observability
import PushModel
import RequestScheduling

/// Requests that wait for their time or place. ``RequestSchedule`` decides; here its directives are followed.
///
/// An occurrence is stored in the transaction that stores its notification, so that it fires once, whenever the agent ends.
extension Agent {
    /// How many regions one app may wait for, as on Apple's systems.
    private static let regionsPerApp = 20

    var scheduleSurroundings: RequestSchedule.Surroundings {
        RequestSchedule.Surroundings(
            now: parts.clock.now(), zones: parts.zones,
            missedPolicy: { [apps] in apps[$0]?.record.settings.missedPolicy ?? .standard })
    }

    /// Stores a request that is to wait for its time or place.
    func schedule(_ request: NotificationRequest, as mark: RequestMark?, app: BundleID) {
        let now = parts.clock.now()
        enqueue(
            .scheduled(
                app: app, request, as: mark, at: now, offset: parts.zones(.floating)?.offset(at: now.wall)))
    }

    /// Why a trigger is refused; `nil` for one that can wait.
    func fault(of trigger: NotificationTrigger, of identifier: String, app: BundleID) throws -> String? {
        if let fault = requestSchedule.fault(of: trigger, scheduleSurroundings) { return fault }
        guard case .region = trigger else { return nil }
        flush()
        let others = try store.read { try $0.requests(app: app) }.filter { request in
            guard case .region? = request.trigger else { return false }
            return request.identifier != identifier
        }
        return others.count < Self.regionsPerApp
            ? nil : "an app may wait for \(Self.regionsPerApp) regions at once"
    }

    // MARK: Events

    func handleClockEvent(_ event: AlarmClockEvent) {
        if event == .wallClockChanged { onLink { $0.probeSession() } }
        updateSchedule(.clock(event))
    }

    /// Loads all that waits from the store.
    func loadSchedule() {
        flush()
        readPending { .loaded(try $0.pending()) }
    }

    /// The store failed: what fired may not be stored, and is loaded again after a pause.
    func loadScheduleLater() { updateSchedule(.storeFailed) }

    /// Rows have left the store, and it is not known which.
    func removeUnstoredFromSchedule() { readPending { .retained(try $0.pendingKeys()) } }

    /// Reads an app's requests again: it was installed, or its settings have changed.
    func rescheduleRequests(_ app: BundleID) {
        guard requestSchedule.isLoaded else { return }
        flush()
        readPending { .reread(try $0.pending(app: app)) }
    }

    private func readPending(_ read: (AgentReader) throws -> RequestSchedule.Event) {
        do {
            updateSchedule(try store.read(read))
        } catch {
            logger.error("What waits for its time could not be read.", metadata: [LogKey.error: "\(error)"])
            updateSchedule(.storeFailed)
        }
    }

    /// Passes an event to the schedule, and follows its directives.
    func updateSchedule(_ event: RequestSchedule.Event) {
        var events = [event]
        var next = 0
        while next < events.count {
            for directive in requestSchedule.handle(events[next], scheduleSurroundings) {
                do {
                    if let event = try followSchedule(directive) { events.append(event) }
                } catch {
                    // The rest is dropped: everything is loaded again.
                    return storeFailed(error)
                }
            }
            next += 1
        }
    }

    // MARK: Directives

    /// - Returns: The event that the schedule must be told in answer; `nil` for none.
    private func followSchedule(_ directive: RequestSchedule.Directive) throws -> RequestSchedule.Event? {
        switch directive {
        case .fire(let key, let occurrence, let lateBy, let isLast):
            return try fireDue(key, occurrence: occurrence, lateBy: lateBy, isLast: isLast)
        case .missed(let key, let occurrence, let isLast):
            // The app's name is for the log alone.
            let app = (try? store.read { try $0.pending(key: key)?.app }) ?? nil
            logger.notice(
                "A notification was missed, and is not shown: it is too late.",
                metadata: [LogKey.topic: "\(app ?? "")", LogKey.due: "\(occurrence.date)"])
            enqueue(.missed(key: key, occurrence: occurrence, isLast: isLast))
        case .never(let key, let app):
            logger.notice(
                "A notification that waited will not come: no other time matches.", metadata: [LogKey.topic: "\(app)"])
            enqueue(.missed(key: key, occurrence: parts.clock.now().wall, isLast: true))
        case .anchored(let key, let added, let lastFired):
            enqueue(.anchored(key: key, added: added, lastFired: lastFired))
        case .crossed(let key, let side): enqueue(.crossed(key: key, side: side))
        case .arm(let instant): parts.clock.arm(instant)
        case .watchPosition(let isNeeded): watchPosition(isNeeded)
        case .load: enter { $0.loadSchedule() }
        case .pause: enter(after: timing.storePause) { $0.updateSchedule(.pauseEnded) }
        case .read(let keys):
            do {
                return .reread(try store.read { reader in try keys.compactMap { try reader.pending(key: $0) } })
            } catch {
                logger.error("What waits for its time could not be read.", metadata: [LogKey.error: "\(error)"])
                return .storeFailed
            }
        case .continue: enter { $0.updateSchedule(.timePassed) }
        case .log(let notice): logger.log(notice)
        }
        return nil
    }

    /// - Parameter occurrence: `nil` for a crossing of a region's edge.
    private func fireDue(
        _ key: Int64, occurrence: Instant?, lateBy: Int64, isLast: Bool
    ) throws -> RequestSchedule.Event? {
        guard let waiting = try store.read({ try $0.pending(key: key) }) else {
            // It was taken back meanwhile.
            return .removed([key])
        }
        let received = ReceivedNotification(content: waiting.request.content, source: .app)
        guard let plan = planned(received, for: waiting.app) else {
            logger.info(
                "A notification whose app is not installed does not come now.",
                metadata: [LogKey.topic: "\(waiting.app)"])
            return .appMissing(key: key)
        }
        if lateBy > MissedPolicy.grace {
            logger.notice(
                "A notification comes late.",
                metadata: [LogKey.topic: "\(waiting.app)", LogKey.milliseconds: "\(lateBy)"])
        }
        tellAlone(plan, of: waiting.app)
        enqueue(
            .due(
                DueRequest(
                    key: key, app: waiting.app, request: waiting.request, occurrence: occurrence, isLast: isLast),
                isAsked: plan.isAsked, shows: plan.showing, at: parts.now()))
        return nil
    }

    private func watchPosition(_ isNeeded: Bool) {
        guard let positions = parts.positions else {
            if isNeeded { logger.warning("Notifications wait for a place, and nothing tells where this machine is.") }
            return
        }
        guard isNeeded else { return positions.rest() }
        positions.start { [weak self] event in self?.enter { $0.updateSchedule(.position(event)) } }
    }
}
