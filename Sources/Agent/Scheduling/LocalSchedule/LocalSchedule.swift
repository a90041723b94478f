import AgentProtocol
import CoreValues

/// All requests that wait for a time, of all apps: the next time of each, and the handling of missed ones.
///
/// A value without a clock: the owner passes the clock's reading with each event, and follows the directives.
/// - An occurrence fires once: none at or before the last one that was reported is reported again, whatever the clock
///   does.
/// - An entry leaves the schedule by `remove` or with a directive that says so.
/// - An interval counts on CLOCK_BOOTTIME during the boot in which it was added, and on the wall clock after that.
///   Fields of a calendar are looked up in their zone, by the wall clock.
/// - The wall clock may be set by up to ``largestPlausibleStep`` (`clockChanged`). After a larger jump the owner makes
///   a new schedule of what it has stored.
package struct LocalSchedule: Sendable {
    /// The largest step of the wall clock that is taken as it is, in milliseconds: 25 hours. It is also the largest
    /// difference between the local times of two zones (UTC-11 and UTC+14).
    package static let largestPlausibleStep: Int64 = 90_000_000

    /// The trigger that makes an entry due.
    package enum Trigger: Hashable, Sendable {
        /// So much time after the entry was added, once or repeatedly.
        case interval(IntervalPattern)
        /// Fields of a calendar, in a zone. Without a zone they float: they are in the machine's zone of the moment.
        case calendar(CalendarPattern, zone: ZoneRules?, repeats: Bool)
    }

    /// A request that waits, as the owner stores it.
    package struct Entry: Hashable, Sendable {
        /// The trigger that makes the entry due.
        package var trigger: Trigger
        /// The clock's reading when it was added, or the one of the last `anchored` directive.
        package var added: ClockReading
        /// The machine's offset when it was added, in seconds east of UTC; `nil` where it is not known: then the offset
        /// of the machine's present zone counts.
        package var addedOffset: Int?
        /// The occurrence of the last directive; `nil` when there was none.
        package var lastFired: Timestamp?
        /// The policy for an occurrence that is noticed too late.
        package var missed: MissedPolicy

        /// An entry that is to wait.
        package init(
            trigger: Trigger, added: ClockReading, addedOffset: Int? = nil, lastFired: Timestamp? = nil,
            missed: MissedPolicy = .standard
        ) {
            self.trigger = trigger
            self.added = added
            self.addedOffset = addedOffset
            self.lastFired = lastFired
            self.missed = missed
        }

        /// Whether its deadline is on the wall clock: fields of a calendar, and intervals of an earlier boot.
        package func dependsOnWallClock(now: ClockReading) -> Bool {
            if case .interval = trigger { added.boot != now.boot } else { true }
        }
    }

    /// The result of adding an entry.
    package enum Addition: Hashable, Sendable {
        /// The entry waits. When the instant has passed already, the next `timePassed` reports it.
        case waits(until: Timestamp)
        /// The entry has no occurrence to come, and is not in the schedule.
        case never
    }

    /// An action for the owner. `isLast` means that the entry has left the schedule.
    package enum Directive: Hashable, Sendable {
        /// Show it, and store the occurrence as its `lastFired`. `lateBy` is in milliseconds.
        case fire(key: RequestKey, occurrence: Timestamp, lateBy: Int64, isLast: Bool)
        /// Do not show it, it is too late for that. Store the occurrence as its `lastFired`.
        case missed(key: RequestKey, occurrence: Timestamp, isLast: Bool)
        /// The wall clock was set: store these values. They are the same moments by the wall clock as it is now.
        case anchored(key: RequestKey, added: ClockReading, lastFired: Timestamp?)
    }

    var slots: [ScheduleSlot] = []
    /// Indexes of unused slots.
    var free: [UInt32] = []
    /// The index of each key's slot.
    var indexes: [RequestKey: UInt32] = [:]
    /// Deadlines on the wall clock, in milliseconds since 1970.
    var wallHeap = IndexedHeap()
    /// Deadlines on CLOCK_BOOTTIME, in milliseconds.
    var bootHeap = IndexedHeap()
    /// The machine's zone.
    var floating: ZoneRules
    /// The last reading of the clocks.
    var clock: ClockReading?
    /// The greatest offset of the wall clock from CLOCK_BOOTTIME since the deadlines were last looked up. While the
    /// offset is no smaller, no deadline has become earlier.
    var greatestWallOffset = Int64.min
    /// Intervals whose `added` is to be stored anew, since the wall clock was set.
    var unanchored: [RequestKey] = []
    /// Entries from the future: their `added` or `lastFired` was corrected and is to be stored.
    var corrected: Set<RequestKey> = []

    /// An empty schedule.
    ///
    /// - Parameter floating: The machine's zone.
    package init(floating: ZoneRules) { self.floating = floating }

    /// The keys of all entries.
    package var keys: some Collection<RequestKey> { indexes.keys }

    /// The number of entries.
    package var count: Int { indexes.count }

    /// When `timePassed` next has something to report, by the wall clock's last reading; `nil` when nothing waits.
    package var nextDeadline: Timestamp? {
        let byWall = wallHeap.top.map { Timestamp(rawValue: $0.deadline) }
        guard let top = bootHeap.top, let clock else { return byWall }
        return min(byWall ?? .distantFuture, Timestamp(rawValue: top.deadline.saturatingSum(clock.wallOffset)))
    }

    /// When an entry is next due: the order in which entries are listed.
    package struct Deadline: Hashable, Sendable, Comparable {
        /// The deadline, by the wall clock's last reading.
        package var instant: Timestamp
        /// The entry's key.
        package var key: RequestKey

        /// The deadline of an entry.
        package init(instant: Timestamp, key: RequestKey) {
            self.instant = instant
            self.key = key
        }

        /// Equal deadlines are in the order of their keys.
        package static func < (left: Deadline, right: Deadline) -> Bool {
            (left.instant, left.key) < (right.instant, right.key)
        }
    }

    /// The deadline of one entry; `nil` for a key that is not in the schedule.
    package func deadline(of key: RequestKey) -> Deadline? {
        guard let index = indexes[key] else { return nil }
        let slot = slots[Int(index)]
        return deadline(
            IndexedHeap.Node(deadline: slot.deadline, slot: index), offset: slot.isOnBootClock ? listingOffset : 0)
    }

    /// The offset by which deadlines on CLOCK_BOOTTIME are listed. The greatest one, since the offset of two readings
    /// may differ by a millisecond, and a list that is read in pages must keep its order.
    private var listingOffset: Int64 {
        greatestWallOffset == .min || greatestWallOffset == .max ? clock?.wallOffset ?? 0 : greatestWallOffset
    }

    private func deadline(_ node: IndexedHeap.Node, offset: Int64) -> Deadline {
        Deadline(
            instant: Timestamp(rawValue: node.deadline.saturatingSum(offset)), key: slots[Int(node.slot)].key)
    }

    /// A page of all deadlines, the earliest first. Examines each entry once.
    ///
    /// - Parameters:
    ///   - last: The last deadline of the page before; `nil` for the first page.
    ///   - limit: The size of the page.
    package func deadlines(after last: Deadline?, limit: Int) -> [Deadline] {
        guard limit > 0 else { return [] }
        var earliest = EarliestDeadlines(after: last, limit: limit)
        for node in wallHeap.nodes { earliest.insert(deadline(node, offset: 0)) }
        for node in bootHeap.nodes { earliest.insert(deadline(node, offset: listingOffset)) }
        return earliest.sorted
    }

    /// The next occurrences of an entry after now, up to a count; empty for a key that is not in the schedule.
    package func nextTimes(_ key: RequestKey, count: Int, now: ClockReading) -> [Timestamp] {
        guard let index = indexes[key] else { return [] }
        let slot = slots[Int(index)]
        guard slot.repeats else {
            let deadline = Timestamp(rawValue: slot.deadline).adding(
                milliseconds: slot.isOnBootClock ? now.wallOffset : 0)
            return count > 0 && deadline > now.wall ? [deadline] : []
        }
        var times: [Timestamp] = []
        var last = now.wall
        if let fired = slot.lastFired, case .calendar = slot.timing { last = max(last, fired) }
        while times.count < count, let next = occurrence(of: slot, after: last, now: now) {
            times.append(next)
            last = next
        }
        return times
    }

    private func occurrence(of slot: ScheduleSlot, after: Timestamp, now: ClockReading) -> Timestamp? {
        switch slot.timing {
        case .calendar(let pattern, let zone): pattern.nextFire(in: zone ?? floating, after: after)
        case .interval(let pattern, _):
            // A step of the wall clock does not move an interval that counts on CLOCK_BOOTTIME.
            pattern.nextFire(start: slot.start(byWallOf: now) ?? slot.added, after: after)
        }
    }
}

/// The earliest of many deadlines. Keeps no more than twice as many as are asked for.
private struct EarliestDeadlines {
    private let last: LocalSchedule.Deadline?
    private let limit: Int
    private var kept: [LocalSchedule.Deadline] = []
    /// Later deadlines than this one are not kept.
    private var end: LocalSchedule.Deadline?

    init(after last: LocalSchedule.Deadline?, limit: Int) {
        self.last = last
        self.limit = limit
    }

    var sorted: [LocalSchedule.Deadline] { Array(kept.sorted().prefix(limit)) }

    mutating func insert(_ deadline: LocalSchedule.Deadline) {
        if let end, deadline > end { return }
        if let last, deadline <= last { return }
        kept.append(deadline)
        guard kept.count >= 2 * limit else { return }
        kept = sorted
        end = kept.last
    }
}

extension LocalSchedule.Trigger {
    /// The trigger of an app's request; `nil` for a region, an interval that is out of range, and an unknown zone.
    ///
    /// - Parameter rules: The rules of a zone; `nil` for an unknown one.
    package init?(_ trigger: NotificationTrigger, zone rules: (ZoneChoice) -> ZoneRules?) {
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
