/// One that waits, as the schedule keeps it: no object of its own, so that a million of them have room.
struct ScheduleSlot: Sendable {
    enum Timing: Sendable {
        /// Without a zone, that where the machine is.
        case calendar(CalendarPattern, zone: ZoneRules?)
        /// With when it was added, on the clock since the system's start.
        case interval(IntervalPattern, start: Int64)
    }

    let key: Int64
    var timing: Timing
    /// When it was added, by the wall clock.
    var added: Instant
    /// How many seconds east of UTC the machine was then.
    private let addedOffset: Int32
    /// When it is due, on its clock.
    var deadline = Int64.max
    private var lastFiredOrMin: Instant
    /// How late it may fire; negative where it may not.
    private let window: Int64
    let repeats: Bool
    /// Whether it waits on the clock since the system's start.
    var isRunning: Bool

    var lastFired: Instant? {
        get { lastFiredOrMin == .min ? nil : lastFiredOrMin }
        set { lastFiredOrMin = newValue ?? .min }
    }

    var missed: MissedPolicy { window < 0 ? .drop : .deliver(within: window) }

    init(_ key: Int64, _ entry: LocalSchedule.Entry, floating: ZoneRules, now: ClockReading) {
        self.key = key
        if case .deliver(let within) = entry.missed { window = max(0, within) } else { window = -1 }
        lastFiredOrMin = entry.lastFired ?? .min
        added = entry.added.wall
        addedOffset = Int32(clamping: entry.addedOffset ?? floating.offset(at: entry.added.wall))
        switch entry.trigger {
        case .interval(let pattern):
            timing = .interval(pattern, start: entry.added.sinceBoot)
            repeats = pattern.repeats
            isRunning = entry.added.boot == now.boot
        case .calendar(let pattern, let zone, let repeats):
            timing = .calendar(pattern, zone: zone)
            self.repeats = repeats
            isRunning = false
        }
    }

    /// When it was added, by the wall clock of now, where it waits on the other clock.
    func start(byWallOf now: ClockReading) -> Instant? {
        guard isRunning, case .interval(_, let start) = timing else { return nil }
        return Instant(milliseconds: start.saturatingSum(now.ahead))
    }

    /// Forgets what is of a clock that was far ahead: an occurrence, and when it was added; whether there was any. An
    /// interval counts on the clock that nobody sets from then on.
    mutating func forgetFuture(now: ClockReading) -> Bool {
        let isFiredInFuture = repeats && lastFired.map { $0.since(now.wall) > LocalSchedule.mostByZones } ?? false
        let isOfFuture = !isRunning && added.since(now.wall) > LocalSchedule.mostByZones
        guard isOfFuture || isFiredInFuture else { return false }
        if isOfFuture { added = now.wall }
        guard case .interval(let pattern, _) = timing else {
            if isFiredInFuture { lastFired = now.wall }
            return true
        }
        if lastFired != nil {
            let passed = now.wall.since(added)
            lastFired = passed < pattern.milliseconds ? nil : now.wall.advanced(by: -(passed % pattern.milliseconds))
        }
        if !isRunning {
            timing = .interval(pattern, start: added.milliseconds.saturatingDifference(now.ahead))
            isRunning = true
        }
        return true
    }

    /// When it was added, as it counts for fields of a calendar: what is not later never fires. Where they float that is the time
    /// which the clocks on the wall showed, wherever the machine was.
    func beginning(floating: ZoneRules) -> Instant {
        guard case .calendar(_, nil) = timing else { return added }
        return added.advanced(by: (Int64(addedOffset) - Int64(floating.offset(at: added))) * 1000)
    }

    /// Its deadline as it is added; `nil` for none.
    ///
    /// - Parameter now: The latest time at which it counts as added.
    func firstDeadline(floating: ZoneRules, now: Instant) -> Int64? {
        guard repeats || lastFired == nil else { return nil }
        switch timing {
        case .calendar(let pattern, let zone):
            let begun = max(min(beginning(floating: floating), now), lastFired ?? .min)
            return pattern.nextFire(in: zone ?? floating, after: begun)?.milliseconds
        case .interval(let pattern, let start):
            let number = lastFired.map { (Double($0.since(added)) / Double(pattern.milliseconds)).rounded() + 1 } ?? 1
            let passed = Int64(max(1, min(number, 1e15))).saturatingProduct(pattern.milliseconds)
            return (isRunning ? start : added.milliseconds).saturatingSum(passed)
        }
    }

    /// The newest occurrence from the deadline on that has come by a time on its clock.
    func newest(floating: ZoneRules, time: Int64) -> Int64 {
        guard repeats else { return deadline }
        switch timing {
        case .interval(let pattern, _):
            return time - time.saturatingDifference(deadline) % pattern.milliseconds
        case .calendar(let pattern, let zone):
            let found = pattern.lastFire(
                in: zone ?? floating, after: Instant(milliseconds: deadline), through: Instant(milliseconds: time))
            return found?.milliseconds ?? deadline
        }
    }

    /// The occurrence after the newest, on its clock; `nil` when that was the last.
    func next(floating: ZoneRules, newest: Int64, time: Int64) -> Int64? {
        guard repeats else { return nil }
        switch timing {
        case .interval(let pattern, _): return newest.saturatingSum(pattern.milliseconds)
        case .calendar(let pattern, let zone):
            return pattern.nextFire(in: zone ?? floating, after: Instant(milliseconds: time))?.milliseconds
        }
    }
}
