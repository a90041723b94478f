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

    /// Has a request wait for its time or place.
    func schedule(_ request: NotificationRequest, as mark: RequestMark?, app: String) {
        let now = parts.clock.now()
        enqueue(
            .scheduled(
                app: app, request, as: mark, at: now, offset: parts.zones(.floating)?.offset(at: now.wall)))
    }

    /// Makes the schedule of what the store holds. What is known of places is kept.
    func loadSchedule() {
        flush()
        schedule = LocalSchedule(floating: parts.zones(.floating) ?? .utc)
        isScheduleLoaded = true
        let now = parts.clock.now()
        clockAhead = now.wall.milliseconds - now.sinceBoot
        do {
            let all = try store.read { try $0.pending() }
            unplace(regions.keys.filter(Set(regions.keys).subtracting(all.map(\.key)).contains))
            for waiting in all { place(waiting) }
        } catch {
            logger.error("What waits for its time could not be read.", metadata: [LogKey.error: "\(error)"])
            loadScheduleLater()
        }
        lookAroundIfNeeded()
        rearm()
    }

    /// The store failed: what was to fire may not be noted.
    func loadScheduleLater() {
        guard !isReloadScheduled else { return }
        isReloadScheduled = true
        enter(after: timing.storePause) { agent in
            agent.isReloadScheduled = false
            agent.loadSchedule()
        }
    }

    /// What the store no longer holds waits no longer.
    func unplaceGone() {
        guard let kept = try? store.read({ try $0.pendingKeys() }) else { return }
        unplace(schedule.keys.filter { !kept.contains($0) } + regions.keys.filter { !kept.contains($0) })
        rearm()
    }

    /// Has an app's requests wait by what the person settled now, or since its manifest can be used again.
    func placeAgain(_ app: String) {
        guard isScheduleLoaded else { return }
        flush()
        defer { lookAroundIfNeeded() }
        for waiting in (try? store.read { try $0.pending(app: app) }) ?? [] { place(waiting) }
        rearm()
    }

    /// Has a request wait from now on.
    func place(_ waiting: PendingRequest) {
        guard let trigger = waiting.request.trigger else { return }
        if case .region(let region, _) = trigger {
            _ = regions.add(waiting.key, region, state: regions.state(of: waiting.key) ?? waiting.side)
            return
        }
        guard let time = LocalSchedule.Trigger(trigger, zone: parts.zones) else {
            return logger.warning(
                "A notification waits in a time zone that this machine does not know.",
                metadata: [LogKey.topic: "\(waiting.app)"])
        }
        let entry = LocalSchedule.Entry(
            trigger: time, added: waiting.added, addedOffset: waiting.addedOffset, lastFired: waiting.lastFired,
            missed: missedPolicy(of: waiting.app))
        let now = parts.clock.now()
        if schedule.add(waiting.key, entry, now: now) == .never {
            // There is no other time for it: such as one that passed while it was being stored.
            logger.notice(
                "A notification that waited will not come: no other time matches.",
                metadata: [LogKey.topic: "\(waiting.app)"])
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
        guard !isClockDoubted else { return }
        let now = parts.clock.now()
        let dwelt = regions.nextDeadline.map { now.wall.advanced(by: $0 - now.sinceBoot) }
        let next = [schedule.nextDeadline, dwelt].compactMap { $0 }.min()
        guard next != armed else { return }
        armed = next
        parts.clock.arm(next)
    }

    func took(_ event: AlarmClockEvent) {
        switch event {
        case .rang:
            guard !isClockDoubted else { return }
            armed = nil
        case .wallClockChanged:
            logger.debug("The clock was set, or the machine has slept: what waits is looked at anew.")
            // What the clock was set past does not ring any more.
            armed = nil
            guard !doubtClock() else { return }
            follow(schedule.clockChanged(now: parts.clock.now()))
        case .zoneChanged:
            logger.debug("The machine may be in another time zone: what waits is looked at anew.")
            guard let zone = parts.zones(.floating) else { return }
            follow(schedule.zoneChanged(floating: zone, now: parts.clock.now()))
        }
        lookAtClock()
    }

    /// More than this no zone explains, in milliseconds.
    private static let doubtfulStep: Int64 = 90_000_000

    /// A clock that is set ahead by more than a day may be put right in a moment: what that would be too late for, and what it
    /// would put off for years, waits for a minute.
    private func doubtClock() -> Bool {
        let now = parts.clock.now()
        let ahead = now.wall.milliseconds - now.sinceBoot
        defer { clockAhead = ahead }
        clockDoubts += 1
        guard let before = clockAhead, ahead - before > Self.doubtfulStep else {
            isClockDoubted = false
            return false
        }
        isClockDoubted = true
        let number = clockDoubts
        logger.warning("The clock was set ahead by more than a day; what waits is looked at in a minute.")
        enter(after: timing.clockPatience) { agent in
            guard agent.isClockDoubted, agent.clockDoubts == number else { return }
            agent.isClockDoubted = false
            agent.follow(agent.schedule.clockChanged(now: agent.parts.clock.now()))
            agent.lookAtClock()
        }
        return true
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
                // What comes after it comes when the schedule is made anew.
                guard fire(key, occurrence: occurrence, isLast: isLast) else { return }
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
    /// - Returns: Whether the store could be read.
    private func fire(_ key: Int64, occurrence: Instant?, isLast: Bool) -> Bool {
        do {
            guard let waiting = try store.read({ try $0.pending(key: key) }), let installed = apps[waiting.app] else {
                // It was taken back since it was placed, or its manifest cannot be used at this time: then it is placed again.
                logger.info("A notification whose app is not installed does not come now.")
                unplace([key])
                return true
            }
            let content = waiting.request.content
            let isAsked = installed.isInFront
            if !isAsked { alert(content, of: waiting.app) }
            enqueue(
                .due(
                    DueRequest(
                        key: key, app: waiting.app, request: waiting.request, occurrence: occurrence, isLast: isLast),
                    isAsked: isAsked, shows: showing(of: content, app: waiting.app), at: parts.now()))
            return true
        } catch {
            storeFailed(error)
            return false
        }
    }

    /// What is wrong with a trigger: that it will never fire, or that it asks for too much.
    func fault(of trigger: NotificationTrigger, of identifier: String, app: String) -> String? {
        let now = parts.clock.now()
        switch trigger {
        case .timeInterval(let seconds, let repeats):
            return IntervalPattern(seconds: seconds, repeats: repeats) == nil || seconds > Self.longestInterval
                ? "an interval is a number of seconds above 0, at least 60 when it repeats, and at most three hundred years, "
                    + "not \(seconds)" : nil
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

    /// In seconds.
    static let longestInterval = 1e10
    /// As on Apple's systems.
    private static let mostRegionsOfOneApp = 20

    private func missedPolicy(of app: String) -> MissedPolicy {
        apps[app]?.standing.settings.missedPolicy ?? .standard
    }

    // MARK: Places

    /// How many circles are watched for all apps together.
    static let mostRegions = 4_096

    /// Looks where the machine is as long as something waits for a place.
    func lookAroundIfNeeded() {
        let isNeeded = regions.count > 0
        guard isNeeded != isLookingAround else { return }
        isLookingAround = isNeeded
        guard let positions = parts.positions else {
            if isNeeded { logger.warning("Notifications wait for a place, and nothing tells where this machine is.") }
            return
        }
        guard isNeeded else {
            regions.forgetPosition()
            return positions.rest()
        }
        positions.start { [weak self] event in self?.enter { $0.took(event) } }
    }

    private func took(_ event: PositionEvent) {
        switch event {
        case .unavailable(let reason):
            logger.warning("Where this machine is, is not known.", metadata: [LogKey.error: "\(reason)"])
            positionFault = reason
            regions.forgetPosition()
        case .position(let position):
            positionFault = nil
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
            guard fire(crossing.key, occurrence: nil, isLast: !repeats) else { return }
        }
    }
}
