import CoreValues

/// An entry as the schedule keeps it: a value without a heap object, so that a million entries fit into memory.
struct ScheduleSlot: Sendable {
    enum Timing: Sendable {
        /// Without a zone the fields are in the machine's zone.
        case calendar(CalendarPattern, zone: ZoneRules?)
        /// `start` is when it was added, in milliseconds of CLOCK_BOOTTIME.
        case interval(IntervalPattern, start: Int64)
    }

    let key: RequestKey
    var timing: Timing
    /// When it was added, by the wall clock.
    var added: Timestamp
    /// The machine's offset when it was added, in seconds east of UTC.
    private let addedOffset: Int32
    /// When it is next due, in milliseconds of its clock.
    var deadline = Int64.max
    private var lastFiredOrPast: Timestamp
    /// How late it may fire, in milliseconds; -1 where it may not fire late.
    private let window: Int64
    let repeats: Bool
    /// Whether its deadline is on CLOCK_BOOTTIME rather than on the wall clock.
    var isOnBootClock: Bool

    var lastFired: Timestamp? {
        get { lastFiredOrPast == .distantPast ? nil : lastFiredOrPast }
        set { lastFiredOrPast = newValue ?? .distantPast }
    }

    var missed: MissedPolicy { window < 0 ? .drop : .deliver(within: window) }

    init(_ key: RequestKey, _ entry: LocalSchedule.Entry, floating: ZoneRules, now: ClockReading) {
        self.key = key
        if case .deliver(let within) = entry.missed { window = max(0, within) } else { window = -1 }
        lastFiredOrPast = entry.lastFired ?? .distantPast
        added = entry.added.wall
        addedOffset = Int32(clamping: entry.addedOffset ?? floating.offset(at: entry.added.wall))
        isOnBootClock = !entry.dependsOnWallClock(now: now)
        switch entry.trigger {
        case .interval(let pattern):
            timing = .interval(pattern, start: entry.added.sinceBoot)
            repeats = pattern.repeats
        case .calendar(let pattern, let zone, let repeats):
            timing = .calendar(pattern, zone: zone)
            self.repeats = repeats
        }
    }

    /// When an interval on CLOCK_BOOTTIME was added, by the wall clock as it is now; `nil` for other entries.
    func start(byWallOf now: ClockReading) -> Timestamp? {
        guard isOnBootClock, case .interval(_, let start) = timing else { return nil }
        return Timestamp(rawValue: start.saturatingSum(now.wallOffset))
    }

    /// Corrects what is more than ``LocalSchedule/largestPlausibleStep`` in the future: it was stored while the wall
    /// clock was ahead. Such an `added` or `lastFired` becomes now, and the interval counts on CLOCK_BOOTTIME. An
    /// interval that does so already has its times moved with the wall clock first: they are no mistake.
    ///
    /// - Returns: Whether there was anything to correct.
    mutating func correctFuture(now: ClockReading) -> Bool {
        let limit = LocalSchedule.largestPlausibleStep
        let start = start(byWallOf: now)
        let shift = start?.milliseconds(since: added) ?? 0
        let hasFiredInFuture =
            repeats && lastFired.map { $0.adding(milliseconds: shift).milliseconds(since: now.wall) > limit } ?? false
        let isAddedInFuture = start == nil && added.milliseconds(since: now.wall) > limit
        guard isAddedInFuture || hasFiredInFuture else { return false }
        if isAddedInFuture { added = now.wall }
        if let start { added = start }
        guard case .interval(let pattern, _) = timing else {
            if hasFiredInFuture { lastFired = now.wall }
            return true
        }
        if lastFired != nil {
            let passed = now.wall.milliseconds(since: added)
            lastFired =
                passed < pattern.milliseconds ? nil : now.wall.adding(milliseconds: -(passed % pattern.milliseconds))
        }
        if !isOnBootClock {
            timing = .interval(pattern, start: added.rawValue.saturatingDifference(now.wallOffset))
            isOnBootClock = true
        }
        return true
    }

    /// When it was added, as it counts for fields of a calendar: occurrences up to then never fire. For floating fields
    /// it is the local time at which it was added, taken in the machine's present zone.
    func addedByWallClock(floating: ZoneRules) -> Timestamp {
        guard case .calendar(_, nil) = timing else { return added }
        return added.adding(milliseconds: (Int64(addedOffset) - Int64(floating.offset(at: added))) * 1000)
    }

    /// The deadline of an entry that is being added; `nil` when it has no occurrence to come.
    ///
    /// - Parameter now: The latest time at which it counts as added: an `added` in the future is not believed.
    func firstDeadline(floating: ZoneRules, now: Timestamp) -> Int64? {
        guard repeats || lastFired == nil else { return nil }
        switch timing {
        case .calendar(let pattern, let zone):
            let start = max(min(addedByWallClock(floating: floating), now), lastFired ?? .distantPast)
            return pattern.nextFire(in: zone ?? floating, after: start)?.rawValue
        case .interval(let pattern, let start):
            let number =
                lastFired.map { (Double($0.milliseconds(since: added)) / Double(pattern.milliseconds)).rounded() + 1 }
                ?? 1
            let passed = Int64(max(1, min(number, 1e15))).saturatingProduct(pattern.milliseconds)
            return (isOnBootClock ? start : added.rawValue).saturatingSum(passed)
        }
    }

    /// The newest occurrence between the deadline and a time, both in milliseconds of its clock.
    func newest(floating: ZoneRules, time: Int64) -> Int64 {
        guard repeats else { return deadline }
        switch timing {
        case .interval(let pattern, _):
            return time - time.saturatingDifference(deadline) % pattern.milliseconds
        case .calendar(let pattern, let zone):
            let found = pattern.lastFire(
                in: zone ?? floating, after: Timestamp(rawValue: deadline), through: Timestamp(rawValue: time))
            return found?.rawValue ?? deadline
        }
    }

    /// The occurrence after the newest, in milliseconds of its clock; `nil` when that was the last.
    func next(floating: ZoneRules, newest: Int64, time: Int64) -> Int64? {
        guard repeats else { return nil }
        switch timing {
        case .interval(let pattern, _): return newest.saturatingSum(pattern.milliseconds)
        case .calendar(let pattern, let zone):
            return pattern.nextFire(in: zone ?? floating, after: Timestamp(rawValue: time))?.rawValue
        }
    }
}
