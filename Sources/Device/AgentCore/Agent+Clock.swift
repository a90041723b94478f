import DevicePorts
import LocalSchedule
import Logging
import Observability

/// What the clocks say, and when they are to ring.
extension Agent {
    /// How many fire before others have their turn.
    private static let batch = 256

    /// Has the clock ring for what is due next.
    func rearm() {
        let now = parts.clock.now()
        let dwelt = regions.nextDeadline.map { now.wall.advanced(by: $0 - now.sinceBoot) }
        let due = schedule.nextDeadline(isWallBelieved: !clockPlausibility.isDoubted)
        let next = [due, dwelt].compactMap { $0 }.min()
        guard next != armed else { return }
        armed = next
        parts.clock.arm(next)
    }

    func handleClockEvent(_ event: AlarmClockEvent) {
        switch event {
        case .rang:
            armed = nil
        case .wallClockChanged:
            logger.debug("The clock was set, or the machine has slept: what waits is looked at anew.")
            // What the clock was set past does not ring any more, and asleep nobody stays in a place.
            armed = nil
            regions.beginDwellAnew(sinceBoot: parts.clock.now().sinceBoot)
            if isBelieved() {
                let now = parts.clock.now()
                if clockPlausibility.isBehind {
                    schedule.doubtClock(now: now)
                } else {
                    schedule.trustClock(hasStood: false)
                }
                schedule.clockChanged(now: now)
                rescheduleStranded()
            }
        case .zoneChanged:
            logger.debug(
                "The machine may be in another time zone, or zones have other rules: what waits is looked at anew.")
            lookAtZones()
            // Who takes the file away that says where the machine is, and brings another, may need longer.
            zoneLooks += 1
            let number = zoneLooks
            enter(after: timing.zonePatience) { agent in
                guard agent.zoneLooks == number else { return }
                agent.lookAtZones()
                agent.fireDue()
            }
        }
        fireDue()
    }

    private func lookAtZones() {
        guard let zone = parts.zones(.floating) else { return }
        follow(
            schedule.zonesChanged(floating: zone, named: { parts.zones(.named($0)) }, now: parts.clock.now()))
        rescheduleStranded()
    }

    /// Whether the wall clock, which was set, is gone by; if not, it is after a while.
    private func isBelieved() -> Bool {
        switch clockPlausibility.clockChanged(parts.clock.now()) {
        case .believed: return true
        case .stillDoubted: return clockPlausibility.isBehind
        case .doubted(let number):
            logger.warning(
                "The clock was set ahead by more than a day; what waits for a date is looked at in a minute.")
            believe(number, after: timing.clockPatience)
            return false
        case .behind(let number):
            logger.warning("The clock was set back by more than a day; it may be put right.")
            believe(number, after: timing.clockPatience)
            return true
        }
    }

    /// The agent begins.
    ///
    /// - Parameter newest: The latest time that the store knows.
    func beginSchedule(newest: Instant?) {
        let now = parts.clock.now()
        isScheduleLoaded = true
        beginning = now.sinceBoot
        guard case .behind(let number) = clockPlausibility.begin(now, newest: newest) else { return }
        logger.warning("The clock is far behind what has been already; it may not be set yet.")
        believe(number, after: timing.behindPatience)
    }

    /// Believes a clock that has stood for a while.
    private func believe(_ number: Int, after patience: Duration) {
        enter(after: patience) { agent in
            let now = agent.parts.clock.now()
            guard agent.clockPlausibility.confirm(number, now) else { return }
            agent.schedule.trustClock(hasStood: true)
            agent.schedule.clockChanged(now: now)
            agent.rescheduleStranded()
            agent.fireDue()
        }
    }

    /// Fires what is due, some at a time.
    func fireDue() {
        let now = parts.clock.now()
        let due = schedule.timePassed(now: now, limit: Self.batch, isWallBelieved: !clockPlausibility.isDoubted)
        follow(due)
        cross(regions.timePassed(sinceBoot: now.sinceBoot))
        guard due.count < Self.batch else { return enter { $0.fireDue() } }
        rearm()
    }

    /// What could not wait may be able to now; reads each of them.
    func rescheduleStranded() {
        guard !stranded.isEmpty else { return }
        do {
            for key in stranded {
                if let waiting = try store.read({ try $0.pending(key: key) }) { place(waiting) }
            }
        } catch {
            couldNotReadPending(error)
        }
        updatePositionWatch()
    }

    /// Keeps a while what would be gone for ever because its time is over: the clock with which the machine began may be put right.
    ///
    /// - Returns: Whether it is kept.
    func keepForNow(_ key: Int64) -> Bool {
        guard let beginning, parts.clock.now().sinceBoot - beginning < timing.clockPatience.milliseconds else {
            return false
        }
        if !isKeepingForNow {
            isKeepingForNow = true
            enter(after: timing.clockPatience) { agent in
                agent.beginning = nil
                agent.rescheduleStranded()
                agent.fireDue()
            }
        }
        stranded.insert(key)
        return true
    }
}
