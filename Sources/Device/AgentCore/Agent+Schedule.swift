import AgentWire
import DeviceModel
import Foundation
import LocalSchedule
import Logging
import Observability
import PushModel

/// Requests that wait for their time or their place: they fire whether their apps run or not, and after a restart.
///
/// What waits is in the store; the schedule is made of that at the start. An occurrence is noted in the transaction that
/// stores its notification, so that it fires once, whenever the agent ends.
extension Agent {
    /// Has a request wait for its time or place.
    func schedule(_ request: NotificationRequest, as mark: RequestMark?, app: String) {
        let now = parts.clock.now()
        enqueue(
            .scheduled(
                app: app, request, as: mark, at: now, offset: parts.zones(.floating)?.offset(at: now.wall)))
    }

    /// Makes the schedule of what the store holds, when the agent begins and after the store failed.
    func loadSchedule() {
        flush()
        schedule = LocalSchedule(floating: parts.zones(.floating) ?? .utc)
        stranded = []
        do {
            let all = try store.read { try $0.pending() }
            // What fired may be of a clock that was ahead for a while; that much was added then is less likely.
            if !isScheduleLoaded { beginSchedule(newest: all.map(\.added.wall).max()) }
            if clockPlausibility.isBehind { schedule.doubtClock(now: parts.clock.now()) }
            // What was crossed and could not be stored is crossed again, from the side that is stored.
            for key in Array(regions.keys) { regions.remove(key) }
            for waiting in all { place(waiting) }
        } catch {
            couldNotReadPending(error)
        }
        updatePositionWatch()
        rearm()
    }

    /// The schedule is made anew when the store may be read again.
    func couldNotReadPending(_ error: any Error) {
        logger.error("What waits for its time could not be read.", metadata: [LogKey.error: "\(error)"])
        loadScheduleLater()
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
    func removeUnstoredFromSchedule() {
        do {
            let kept = try store.read { try $0.pendingKeys() }
            removeFromSchedule(stranded.union(schedule.keys).union(regions.keys).subtracting(kept))
            rearm()
        } catch {
            couldNotReadPending(error)
        }
    }

    /// Has an app's requests wait by what the person settled now, or since its manifest can be used again.
    func rescheduleRequests(_ app: String) {
        guard isScheduleLoaded else { return }
        flush()
        defer { updatePositionWatch() }
        do {
            for waiting in try store.read({ try $0.pending(app: app) }) { place(waiting) }
        } catch {
            couldNotReadPending(error)
        }
        rearm()
    }

    /// Has a request wait from now on.
    func place(_ waiting: PendingRequest) {
        guard let trigger = waiting.request.trigger else { return }
        stranded.remove(waiting.key)
        if case .region(let region, _) = trigger {
            let state = regions.state(of: waiting.key) ?? waiting.side
            guard let refusal = regions.add(waiting.key, region, state: state) else { return }
            stranded.insert(waiting.key)
            return logger.warning(
                "A notification waits for a place that cannot be watched for.",
                metadata: [LogKey.topic: "\(waiting.app)", LogKey.error: "\(refusal)"])
        }
        guard let time = LocalSchedule.Trigger(trigger, zone: parts.zones) else {
            stranded.insert(waiting.key)
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
    func removeFromSchedule(_ keys: some Sequence<Int64>) {
        for key in keys {
            schedule.remove(key)
            regions.remove(key)
            stranded.remove(key)
        }
        updatePositionWatch()
    }

    func follow(_ directives: [LocalSchedule.Directive]) {
        for directive in directives {
            switch directive {
            case .fire(let key, let occurrence, let lateBy, let isLast):
                // What comes after it comes when the schedule is made anew.
                guard fire(key, occurrence: occurrence, lateBy: lateBy, isLast: isLast) else { return }
            case .missed(let key, _, isLast: true) where keepForNow(key): break
            case .missed(let key, let occurrence, let isLast):
                // For the log alone.
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
    func fire(_ key: Int64, occurrence: Instant?, lateBy: Int64 = 0, isLast: Bool) -> Bool {
        do {
            guard let waiting = try store.read({ try $0.pending(key: key) }) else {
                // It was taken back since it was placed.
                removeFromSchedule([key])
                return true
            }
            guard let installed = apps[waiting.app] else {
                // Its manifest cannot be used at this time. When that is right again it is placed again.
                logger.info(
                    "A notification whose app is not installed does not come now.",
                    metadata: [LogKey.topic: "\(waiting.app)"])
                removeFromSchedule([key])
                stranded.insert(key)
                return true
            }
            if lateBy > MissedPolicy.grace {
                logger.notice(
                    "A notification comes late.",
                    metadata: [LogKey.topic: "\(waiting.app)", LogKey.milliseconds: "\(lateBy)"])
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
    func fault(of trigger: NotificationTrigger, of identifier: String, app: String) throws -> String? {
        let now = parts.clock.now()
        switch trigger {
        case .timeInterval(let seconds, let repeats):
            return IntervalPattern(seconds: seconds, repeats: repeats) == nil || seconds > Self.longestInterval
                ? "an interval is a number of seconds above 0, at least 60 when it repeats, and at most three hundred years, "
                    + "not \(seconds)" : nil
        case .calendar(let components, let repeats):
            guard case .calendar(let pattern, let zone, _)? = LocalSchedule.Trigger(trigger, zone: parts.zones) else {
                return "this machine does not know the time zone \(components.timeZone?.identifier ?? "")"
            }
            guard let zone = zone ?? parts.zones(.floating) else { return "this machine's time zone is not known" }
            if repeats, pattern.isManyAMinute {
                return "its fields match many times a minute (\(components.words)): give a second too"
            }
            guard pattern.nextFire(in: zone, after: now.wall) == nil else { return nil }
            guard CalendarPattern.knowsCalendar(of: components) else {
                let name = components.calendar.map { "\($0.identifier)" } ?? ""
                return "this machine does not know the months of the calendar \(name)"
            }
            return Self.fault(of: pattern, components, in: zone, at: now.wall)
        case .region(let region, _): return try fault(of: region, of: identifier, app: app)
        }
    }

    /// Why fields of a calendar match at no time to come.
    private static func fault(
        of pattern: CalendarPattern, _ components: DateComponents, in zone: ZoneRules, at now: Instant
    ) -> String {
        let words = components.words
        guard components.year != nil, let past = pattern.nextFire(in: zone, after: .min) else {
            let until = components.year == nil ? " in the next forty years" : ""
            return "no date\(until) is of these fields: \(words.isEmpty ? "none are given" : words)"
        }
        let offset = zone.offset(at: past)
        let told = "its time has passed: \(past.text(secondsFromGMT: offset))"
        // Of a time that clocks show twice the first counts.
        let nextOffset = zone.offset(at: past.advanced(by: 86_400_000))
        let again = past.advanced(by: Int64(offset - nextOffset) * 1000)
        guard again > now, again > past, zone.offset(at: again) == nextOffset else { return told }
        return
            "\(told); clocks show it again at \(again.text(secondsFromGMT: nextOffset)), which names it by its offset"
    }

    /// In seconds.
    static let longestInterval = 1e10

    private func missedPolicy(of app: String) -> MissedPolicy {
        apps[app]?.standing.settings.missedPolicy ?? .standard
    }
}
