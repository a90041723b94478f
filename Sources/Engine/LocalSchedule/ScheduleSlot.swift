/// One that waits, as the schedule keeps it: no object of its own, so that a million of them have room.
struct ScheduleSlot: Sendable {
    enum Timing: Sendable {
        case calendar(CalendarPattern)
        case interval(IntervalPattern)
    }

    var key: Int64
    var timing: Timing
    /// `nil` for the zone where the machine is.
    var zone: ZoneRules?
    var repeats: Bool
    var missed: MissedPolicy
    var lastFired: Instant?
    /// Whether it waits on the clock since the system's start.
    var isRunning: Bool
    /// When it was added, by the wall clock.
    var added: Instant
    /// The same on the clock since the system's start, where it waits on that.
    var start: Int64
    /// When it is due, on its clock.
    var deadline: Int64

    init(_ key: Int64, _ entry: LocalSchedule.Entry, now: Moment) {
        self.key = key
        missed = entry.missed
        lastFired = entry.lastFired
        added = entry.added.wall
        start = entry.added.sinceBoot
        deadline = .max
        switch entry.trigger {
        case .interval(let pattern):
            timing = .interval(pattern)
            repeats = pattern.repeats
            isRunning = entry.added.boot == now.boot
        case .calendar(let pattern, let zone, let repeats):
            timing = .calendar(pattern)
            self.zone = zone
            self.repeats = repeats
            isRunning = false
        }
    }

    /// Its deadline as it is added; `nil` for none.
    func firstDeadline(floating: ZoneRules, now: Moment) -> Int64? {
        guard repeats || lastFired == nil else { return nil }
        switch timing {
        case .calendar(let pattern):
            // A clock that was ahead when it was added does not put it off until then.
            let begun = max(min(added, now.wall), lastFired ?? .min)
            return pattern.nextFire(in: zone ?? floating, after: begun)?.milliseconds
        case .interval(let pattern):
            let number = lastFired.map { (Double($0.since(added)) / Double(pattern.milliseconds)).rounded() + 1 } ?? 1
            let passed = Int64(max(1, min(number, 1e15))).saturatingProduct(pattern.milliseconds)
            return (isRunning ? start : added.milliseconds).saturatingSum(passed)
        }
    }

    /// The newest occurrence from the deadline on that has come by a time on its clock.
    func newest(floating: ZoneRules, time: Int64) -> Int64 {
        guard repeats else { return deadline }
        switch timing {
        case .interval(let pattern):
            return time - time.saturatingDifference(deadline) % pattern.milliseconds
        case .calendar(let pattern):
            let found = pattern.lastFire(
                in: zone ?? floating, after: Instant(milliseconds: deadline), through: Instant(milliseconds: time))
            return found?.milliseconds ?? deadline
        }
    }

    /// The occurrence after the newest, on its clock; `nil` when that was the last.
    func next(floating: ZoneRules, newest: Int64, time: Int64) -> Int64? {
        guard repeats else { return nil }
        switch timing {
        case .interval(let pattern): return newest.saturatingSum(pattern.milliseconds)
        case .calendar(let pattern):
            return pattern.nextFire(in: zone ?? floating, after: Instant(milliseconds: time))?.milliseconds
        }
    }
}
