import AgentWire
import LocalSchedule
import Logging
import Observability
import PushModel

/// Requests that wait for their time or their place: they fire whether their apps run or not, and after a restart.
///
/// What waits is in the store; the schedule is made of that at the start. An occurrence is noted in the transaction that
/// stores its notification, so that it fires once, whenever the agent ends.
extension Agent {
    /// How many fire before others have their turn.
    private static let batch = 256

    /// Makes the schedule of what the store holds.
    func loadSchedule() {
        schedule = LocalSchedule(floating: parts.zones(.floating) ?? .utc)
        regions = RegionWatch(most: Self.mostRegions)
        do {
            for waiting in try store.read({ try $0.pending() }) { place(waiting) }
        } catch {
            logger.error("What waits for its time could not be read.", metadata: [LogKey.error: "\(error)"])
            enter(after: timing.storePause) { $0.loadSchedule() }
        }
        lookAroundIfNeeded()
        rearm()
    }

    /// Has an app's requests wait by what the person settled now.
    func placeAgain(_ app: String) {
        for waiting in (try? store.read { try $0.pending(app: app) }) ?? [] { place(waiting) }
        rearm()
    }

    /// Has a request wait from now on.
    func place(_ waiting: PendingRequest) {
        guard let trigger = waiting.request.trigger else { return }
        if case .region(let region, _) = trigger {
            _ = regions.add(waiting.key, region, state: regions.state(of: waiting.key) ?? waiting.side)
            // Its source tells only what is new.
            if let lastPosition { took(.position(lastPosition)) }
            return
        }
        guard let time = LocalSchedule.Trigger(trigger, zone: parts.zones) else {
            return logger.warning(
                "A notification waits in a time zone that this machine does not know.",
                metadata: [LogKey.topic: "\(waiting.app)"])
        }
        let entry = LocalSchedule.Entry(
            trigger: time, added: waiting.added, lastFired: waiting.lastFired, missed: missedPolicy(of: waiting.app))
        let now = parts.clock.now()
        if schedule.add(waiting.key, entry, now: now) == .never {
            // There is no other time for it: such as one that passed while it was being stored.
            enqueue(.missed(key: waiting.key, occurrence: now.wall, isLast: true))
        }
    }

    /// What the store no longer holds waits no longer.
    func unplace(_ keys: [Int64]) {
        for key in keys {
            schedule.remove(key)
            regions.remove(key)
        }
        lookAroundIfNeeded()
    }

    /// Has the clock ring for what is due next.
    func rearm() {
        let now = parts.clock.now()
        let dwelt = regions.nextDeadline.map { now.wall.advanced(by: $0 - now.sinceBoot) }
        let next = [schedule.nextDeadline, dwelt].compactMap { $0 }.min()
        guard next != armed else { return }
        armed = next
        parts.clock.arm(next)
    }

    func took(_ event: AlarmClockEvent) {
        switch event {
        case .rang: armed = nil
        case .wallClockChanged:
            logger.debug("The clock was set, or the machine has slept: what waits is looked at anew.")
            // What the clock was set past does not ring any more.
            armed = nil
            follow(schedule.clockChanged(now: parts.clock.now()))
        case .zoneChanged:
            logger.debug("The machine may be in another time zone: what waits is looked at anew.")
            guard let zone = parts.zones(.floating) else { return }
            follow(schedule.zoneChanged(floating: zone, now: parts.clock.now()))
        }
        lookAtClock()
    }

    /// Fires what is due, some at a time.
    private func lookAtClock() {
        let now = parts.clock.now()
        let due = schedule.timePassed(now: now, limit: Self.batch)
        follow(due)
        cross(regions.timePassed(sinceBoot: now.sinceBoot))
        guard due.count < Self.batch else { return enter { $0.lookAtClock() } }
        rearm()
    }

    private func follow(_ directives: [LocalSchedule.Directive]) {
        for directive in directives {
            switch directive {
            case .fire(let key, let occurrence, let lateBy, let isLast):
                if lateBy > MissedPolicy.grace {
                    logger.notice("A notification comes late.", metadata: [LogKey.milliseconds: "\(lateBy)"])
                }
                fire(key, occurrence: occurrence, isLast: isLast)
            case .missed(let key, let occurrence, let isLast):
                let app = (try? store.read { try $0.pending(key: key)?.app }) ?? nil
                logger.notice(
                    "A notification was missed, and is not shown: it is too late.",
                    metadata: [LogKey.topic: "\(app ?? "")", LogKey.due: "\(occurrence.date)"])
                enqueue(.missed(key: key, occurrence: occurrence, isLast: isLast))
            case .anchored(let key, let added, let lastFired):
                enqueue(.anchored(key: key, added: added, lastFired: lastFired))
            }
        }
    }

    /// - Parameter occurrence: `nil` where a place made it fire.
    private func fire(_ key: Int64, occurrence: Instant?, isLast: Bool) {
        do {
            guard let waiting = try store.read({ try $0.pending(key: key) }), let installed = apps[waiting.app] else {
                // It was taken back, or its app was, since it was placed.
                return unplace([key])
            }
            let content = waiting.request.content
            let isAsked = installed.isInFront
            if !isAsked { alert(content, of: waiting.app) }
            enqueue(
                .due(
                    DueRequest(
                        key: key, app: waiting.app, request: waiting.request, occurrence: occurrence, isLast: isLast),
                    isAsked: isAsked, shows: showing(of: content, app: waiting.app), at: parts.now()))
        } catch {
            storeFailed(error)
        }
    }

    /// What is wrong with a trigger: that it will never fire, or that it asks for too much.
    func fault(of trigger: NotificationTrigger, of identifier: String, app: String) -> String? {
        let now = parts.clock.now()
        switch trigger {
        case .timeInterval(let seconds, let repeats):
            return IntervalPattern(seconds: seconds, repeats: repeats) == nil
                ? "an interval is a number of seconds above 0, and at least 60 when it repeats, not \(seconds)" : nil
        case .calendar(let components, _):
            guard case .calendar(let pattern, let zone, _)? = LocalSchedule.Trigger(trigger, zone: parts.zones) else {
                return "this machine does not know the time zone \(components.timeZone?.identifier ?? "")"
            }
            guard let zone = zone ?? parts.zones(.floating) else { return "this machine's time zone is not known" }
            return pattern.nextFire(in: zone, after: now.wall) == nil
                ? "no time in the next forty years matches its date components" : nil
        case .region(let region, _): return fault(of: region, of: identifier, app: app)
        }
    }

    private func fault(of region: NotificationTrigger.Region, of identifier: String, app: String) -> String? {
        guard region.onEntry || region.onExit else { return "its region tells neither of entry nor of exit" }
        var trial = RegionWatch(most: 1)
        guard trial.add(0, region) == nil else {
            return
                "its region is not a circle on the earth: a latitude from -90 to 90, a longitude from -180 to 180 and a "
                + "radius above 0 metres"
        }
        guard regions.count < Self.mostRegions else {
            return "\(Self.mostRegions) regions are waited for on this machine already"
        }
        flush()
        let waiting = (try? store.read { try $0.requests(app: app) }) ?? []
        let others = waiting.filter { request in
            guard case .region? = request.trigger else { return false }
            return request.identifier != identifier
        }
        return others.count < Self.mostRegionsOfOneApp
            ? nil : "an app may wait for \(Self.mostRegionsOfOneApp) regions at once"
    }

    /// As on Apple's systems.
    private static let mostRegionsOfOneApp = 20

    private func missedPolicy(of app: String) -> MissedPolicy {
        apps[app]?.standing.settings.missedPolicy ?? .standard
    }

    // MARK: Places

    /// How many circles are watched for all apps together.
    private static let mostRegions = 4_096

    /// Looks where the machine is as long as something waits for a place.
    func lookAroundIfNeeded() {
        let isNeeded = regions.count > 0
        guard isNeeded != isLookingAround else { return }
        isLookingAround = isNeeded
        guard let positions = parts.positions else {
            if isNeeded { logger.warning("Notifications wait for a place, and nothing tells where this machine is.") }
            return
        }
        lastPosition = nil
        guard isNeeded else { return positions.rest() }
        positions.start { [weak self] event in self?.enter { $0.took(event) } }
    }

    private func took(_ event: PositionEvent) {
        switch event {
        case .unavailable(let reason):
            logger.warning("Where this machine is, is not known.", metadata: [LogKey.error: "\(reason)"])
            (positionFault, lastPosition) = (reason, nil)
        case .position(let position):
            (positionFault, lastPosition) = (nil, position)
            let reported = regions.positionReported(
                latitude: position.latitude, longitude: position.longitude, accuracy: position.accuracy,
                sinceBoot: parts.clock.now().sinceBoot)
            switch reported {
            case .success(let crossings): cross(crossings)
            case .failure:
                logger.warning("A position that is not on the earth was passed over.")
            }
            rearm()
        }
    }

    private func cross(_ crossings: [RegionWatch.Crossing]) {
        for crossing in crossings {
            enqueue(.crossed(key: crossing.key, side: crossing.state))
            guard crossing.fires else { continue }
            let waiting = (try? store.read { try $0.pending(key: crossing.key) }) ?? nil
            guard case .region(_, let repeats)? = waiting?.request.trigger else {
                unplace([crossing.key])
                continue
            }
            if !repeats { unplace([crossing.key]) }
            fire(crossing.key, occurrence: nil, isLast: !repeats)
        }
    }
}
