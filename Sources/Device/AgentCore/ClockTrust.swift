import LocalSchedule

/// Whether the wall clock is believed: one that is set ahead by more than a day may be put right in a moment.
///
/// A value without a clock. What such a clock would be too late for, and what it would put off for years, waits until the clock
/// has stood for a while, or was put right.
struct ClockTrust: Sendable, Hashable {
    /// More than this no zone explains, in milliseconds.
    private static let doubtfulStep: Int64 = 90_000_000
    /// Clocks that are read one after the other differ by less, in milliseconds.
    private static let sameClock = 1000

    /// How far the wall clock was ahead of the one that nobody sets, when it was last believed.
    private var believed: Int64?
    /// How far it is now, while it is doubted.
    private var doubted: Int64?
    private var count = 0

    var isDoubted: Bool { doubted != nil }

    enum Verdict: Sendable, Hashable {
        case believed
        /// It waits to be believed; `confirm` is due with this number when it has stood for a while.
        case doubted(number: Int)
        /// It waits as before.
        case stillDoubted
    }

    /// The wall clock is believed, whatever it says.
    mutating func believe(_ now: Moment) {
        believed = Self.ahead(now)
        doubted = nil
    }

    /// The wall clock may have been set.
    mutating func clockChanged(_ now: Moment) -> Verdict {
        let ahead = Self.ahead(now)
        guard let believed, Instant(milliseconds: ahead).since(Instant(milliseconds: believed)) > Self.doubtfulStep
        else {
            believe(now)
            return .believed
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
    mutating func confirm(_ number: Int, _ now: Moment) -> Bool {
        guard isDoubted, number == count else { return false }
        believe(now)
        return true
    }

    private static func ahead(_ now: Moment) -> Int64 {
        now.wall.advanced(by: -now.sinceBoot).milliseconds
    }
}
