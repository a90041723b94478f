import AgentWire

/// All that waits for its time, of all apps: when each is next due, and what is done with what was missed.
///
/// A value without a clock: the owner tells what time it is with each event, and does what the directives say.
/// - An occurrence fires once: none at or before the last that was told of is ever told of again, whatever the clock does.
/// - What leaves the schedule unasked leaves with a directive.
/// - Intervals count on the clock that nobody sets while the system runs in which they were added, afterwards on the wall
///   clock. Fields of a calendar are looked up in the zone in question, in the wall clock's time.
public struct LocalSchedule: Sendable {
    /// How far clocks on the wall may be apart, in milliseconds: more no zone explains, and one of two such clocks is wrong.
    public static let mostByZones: Int64 = 90_000_000

    /// What makes one due.
    public enum Trigger: Hashable, Sendable {
        case interval(IntervalPattern)
        /// Without a zone the fields are those of the zone where the machine is then.
        case calendar(CalendarPattern, zone: ZoneRules?, repeats: Bool)
    }

    /// One that waits, as the owner's store keeps it.
    public struct Entry: Hashable, Sendable {
        public var trigger: Trigger
        /// When it was added; what `anchored` said since then.
        public var added: ClockReading
        /// How many seconds east of UTC the machine was then; `nil` when that is not known: as it is now.
        public var addedOffset: Int?
        /// The occurrence of the last directive; `nil` when there was none.
        public var lastFired: Instant?
        public var missed: MissedPolicy

        public init(
            trigger: Trigger, added: ClockReading, addedOffset: Int? = nil, lastFired: Instant? = nil,
            missed: MissedPolicy = .standard
        ) {
            self.trigger = trigger
            self.added = added
            self.addedOffset = addedOffset
            self.lastFired = lastFired
            self.missed = missed
        }
    }

    /// What became of an entry.
    public enum Addition: Hashable, Sendable {
        /// It waits; when that has passed already, it comes with the next `timePassed`.
        case waits(until: Instant)
        /// It will never be due, and is not in the schedule.
        case never
    }

    /// What the owner must do. `isLast` says that the key has left the schedule.
    public enum Directive: Hashable, Sendable {
        /// Show it, and store the occurrence as its `lastFired`.
        case fire(key: Int64, occurrence: Instant, lateBy: Int64, isLast: Bool)
        /// Do not show it, it is too late for that; store the occurrence as its `lastFired`.
        case missed(key: Int64, occurrence: Instant, isLast: Bool)
        /// The wall clock was set: store these, which mean the same instants by the clock as it is now.
        case anchored(key: Int64, added: ClockReading, lastFired: Instant?)
    }

    var slots: [ScheduleSlot] = []
    /// Numbers in `slots` that are not used.
    var free: [UInt32] = []
    var numbers: [Int64: UInt32] = [:]
    /// What waits on the wall clock, in milliseconds since 1970.
    var wall = IndexedHeap()
    /// What waits on the clock since the system's start, in milliseconds.
    var running = IndexedHeap()
    /// The zone where the machine is.
    var floating: ZoneRules
    /// What the clocks said last.
    var clock: ClockReading?
    /// The most by which the wall clock was ahead of the other since all was last looked up: nothing is due sooner by a clock that
    /// is no less ahead.
    var mostAhead = Int64.min
    /// Intervals that were added with another wall clock than today's.
    var unanchored: [Int64] = []
    /// What fired when the clock was far ahead, and goes on from now.
    var corrected: Set<Int64> = []

    /// Since when the wall clock of now may be wrong, rather than that by which something is far ahead of it; `nil` while what is
    /// far ahead counts as of a clock that had been ahead, and no more.
    public private(set) var unsureSince: Instant?
    /// Since when that was not sure until now; the next `clockChanged` looks at all from then on.
    var wasUnsureSince: Instant?

    /// From now on it may be the wall clock that is wrong, and not what is far ahead of it: that waits as it is.
    public mutating func doubtClock(now: ClockReading) { unsureSince = now.wall }

    /// The wall clock is right: `clockChanged`, which is to follow, lets nothing count that is far ahead of it.
    ///
    /// - Parameter hasStood: Whether it was not set since it was doubted: then what it has shown meanwhile counts.
    public mutating func trustClock(hasStood: Bool) {
        guard unsureSince != nil else { return }
        wasUnsureSince = hasStood ? unsureSince : nil
        unsureSince = nil
        mostAhead = .max
    }

    /// Nothing waits.
    ///
    /// - Parameter floating: the zone where the machine is.
    public init(floating: ZoneRules) { self.floating = floating }

    /// The keys of all that wait.
    public var keys: some Collection<Int64> { numbers.keys }

    /// How many wait.
    public var count: Int { numbers.count }

    /// When `timePassed` has something to tell, by the wall clock as it was last told of; `nil` when nothing waits.
    ///
    /// - Parameter isWallBelieved: without it, what waits on the wall clock does not count.
    public func nextDeadline(isWallBelieved: Bool = true) -> Instant? {
        let byWall = isWallBelieved ? wall.top.map { Instant(milliseconds: $0.deadline) } : nil
        guard let top = running.top, let clock else { return byWall }
        let byRunning = Instant(milliseconds: top.deadline.saturatingSum(clock.ahead))
        return min(byWall ?? .max, byRunning)
    }

    /// One of those that wait, and when it is due.
    public struct Turn: Hashable, Sendable, Comparable {
        /// By the wall clock as it was last told of.
        public var deadline: Instant
        /// Its key in the schedule.
        public var key: Int64

        /// One with this key, due then.
        public init(deadline: Instant, key: Int64) {
            self.deadline = deadline
            self.key = key
        }

        /// Those that are due together come in the order of their keys.
        public static func < (left: Turn, right: Turn) -> Bool {
            (left.deadline, left.key) < (right.deadline, right.key)
        }
    }

    /// When one is due; `nil` for a key that does not wait.
    public func turn(of key: Int64) -> Turn? {
        guard let number = numbers[key] else { return nil }
        let slot = slots[Int(number)]
        return turn(IndexedHeap.Node(deadline: slot.deadline, slot: number), ahead: slot.isRunning ? ahead : 0)
    }

    /// How far the wall clock was ahead of the other one, at most: so that two looks, between which it seems to be a millisecond
    /// less, have one order.
    private var ahead: Int64 { mostAhead == .min || mostAhead == .max ? clock?.ahead ?? 0 : mostAhead }

    private func turn(_ node: IndexedHeap.Node, ahead: Int64) -> Turn {
        Turn(
            deadline: Instant(milliseconds: node.deadline.saturatingSum(ahead)), key: slots[Int(node.slot)].key)
    }

    /// The first so many after a turn, in order; `nil` begins with the first of all. Looks at each that waits once.
    public func turns(after last: Turn?, limit: Int) -> [Turn] {
        guard limit > 0 else { return [] }
        var first = FirstTurns(after: last, limit: limit)
        for node in wall.nodes { first.take(turn(node, ahead: 0)) }
        for node in running.nodes { first.take(turn(node, ahead: ahead)) }
        return first.inOrder
    }

    /// The next occurrences of one after now, not more than so many; none for a key that does not wait.
    public func nextTimes(_ key: Int64, count: Int, now: ClockReading) -> [Instant] {
        guard let number = numbers[key] else { return [] }
        let slot = slots[Int(number)]
        guard slot.repeats else {
            let deadline = Instant(milliseconds: slot.deadline).advanced(by: slot.isRunning ? now.ahead : 0)
            return count > 0 && deadline > now.wall ? [deadline] : []
        }
        var times: [Instant] = []
        var last = now.wall
        if let fired = slot.lastFired, case .calendar = slot.timing { last = max(last, fired) }
        while times.count < count, let next = occurrence(of: slot, after: last, now: now) {
            times.append(next)
            last = next
        }
        return times
    }

    private func occurrence(of slot: ScheduleSlot, after: Instant, now: ClockReading) -> Instant? {
        switch slot.timing {
        case .calendar(let pattern, let zone): pattern.nextFire(in: zone ?? floating, after: after)
        case .interval(let pattern, _):
            // A wall clock that was set since does not move it.
            pattern.nextFire(start: slot.start(byWallOf: now) ?? slot.added, after: after)
        }
    }
}

/// The first of many turns, of which no more than twice as many are kept as are asked for.
private struct FirstTurns {
    private let last: LocalSchedule.Turn?
    private let limit: Int
    private var turns: [LocalSchedule.Turn] = []
    /// No turn counts from this on.
    private var end: LocalSchedule.Turn?

    init(after last: LocalSchedule.Turn?, limit: Int) {
        self.last = last
        self.limit = limit
    }

    var inOrder: [LocalSchedule.Turn] { Array(turns.sorted().prefix(limit)) }

    mutating func take(_ turn: LocalSchedule.Turn) {
        if let end, turn > end { return }
        if let last, turn <= last { return }
        turns.append(turn)
        guard turns.count >= 2 * limit else { return }
        turns = inOrder
        end = turns.last
    }
}

extension LocalSchedule.Trigger {
    /// What an app asked for; `nil` for a region, for an interval that is refused, and when the zone is not known.
    public init?(_ trigger: NotificationTrigger, zone rules: (ZoneChoice) -> ZoneRules?) {
        switch trigger {
        case .timeInterval(let seconds, let repeats):
            guard let pattern = IntervalPattern(seconds: seconds, repeats: repeats) else { return nil }
            self = .interval(pattern)
        case .calendar(let components, let repeats):
            let choice = ZoneChoice(components.timeZone)
            let zone = choice == .floating ? nil : rules(choice)
            guard choice == .floating || zone != nil else { return nil }
            self = .calendar(CalendarPattern(components), zone: zone, repeats: repeats)
        case .region: return nil
        }
    }
}
