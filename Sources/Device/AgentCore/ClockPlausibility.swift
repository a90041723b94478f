import LocalSchedule

/// Whether the wall clock is believed.
///
/// A value without a clock. One that is set ahead by more than a day may be put right in a moment: what it would be too late for,
/// and what it would put off for years, waits until the clock has stood for a while, or was put right. One that is behind what has
/// been already, since it was set back by more than a day, or since the agent's store knows better when the agent begins, is gone
/// by; but what has been does not count as a mistake before it is set, or has stood for a while.
struct ClockPlausibility: Sendable, Hashable {
    /// Clocks that are read one after the other differ by less, in milliseconds.
    private static let sameClock = 1000

    /// How far the wall clock was ahead of the one that nobody sets, when it was last believed.
    private var believed: Int64?
    /// How far it is now, while it is doubted.
    private var doubted: Int64?
    /// What is known to have been, while the clock is behind that.
    private var known: Instant?
    private var count = 0

    /// Whether it may be ahead of the time.
    var isDoubted: Bool { doubted != nil }
    /// Whether it may be behind the time.
    var isBehind: Bool { known != nil }

    enum Verdict: Sendable, Hashable {
        case believed
        /// It may be ahead, and waits to be believed; `confirm` is due with this number when it has stood for a while.
        case doubted(number: Int)
        /// It may be behind; the same.
        case behind(number: Int)
        /// It waits as before.
        case stillDoubted
    }

    /// The agent begins.
    ///
    /// - Parameter newest: The latest time that the store knows.
    mutating func begin(_ now: ClockReading, newest: Instant?) -> Verdict {
        believe(now)
        guard let newest, newest.since(now.wall) > LocalSchedule.mostByZones else { return .believed }
        return fallBehind(newest)
    }

    private mutating func fallBehind(_ time: Instant) -> Verdict {
        known = time
        count += 1
        return .behind(number: count)
    }

    /// The wall clock is believed, whatever it says.
    private mutating func believe(_ now: ClockReading) {
        believed = Self.ahead(now)
        (doubted, known) = (nil, nil)
    }

    /// The wall clock may have been set.
    mutating func clockChanged(_ now: ClockReading) -> Verdict {
        let ahead = Self.ahead(now)
        if let known {
            if known.since(now.wall) <= LocalSchedule.mostByZones {
                believe(now)
                return .believed
            }
            believed = ahead
            return .stillDoubted
        }
        guard let believed else {
            believe(now)
            return .believed
        }
        let step = Instant(milliseconds: ahead).since(Instant(milliseconds: believed))
        guard step.magnitude > LocalSchedule.mostByZones else {
            believe(now)
            return .believed
        }
        if step < 0 {
            let time = Instant(milliseconds: believed).advanced(by: now.sinceBoot)
            believe(now)
            return fallBehind(time)
        }
        if let doubted, Instant(milliseconds: ahead).since(Instant(milliseconds: doubted)).magnitude < Self.sameClock {
            return .stillDoubted
        }
        doubted = ahead
        count += 1
        return .doubted(number: count)
    }

    /// The while is over.
    ///
    /// - Returns: Whether it is believed now, and was not before.
    mutating func confirm(_ number: Int, _ now: ClockReading) -> Bool {
        guard isDoubted || isBehind, number == count else { return false }
        believe(now)
        return true
    }

    private static func ahead(_ now: ClockReading) -> Int64 {
        now.wall.advanced(by: -now.sinceBoot).milliseconds
    }
}
