import Foundation

/// What the system's clocks say at one point of time.
public struct ClockReading: Hashable, Sendable, Codable {
    /// CLOCK_REALTIME, which people and network time set.
    public var wall: Instant
    /// Which start of the system it was; Linux makes a new id at each (`/proc/sys/kernel/random/boot_id`).
    public var boot: UUID
    /// CLOCK_BOOTTIME in milliseconds: counts from the start on, in suspend as well, and is never set.
    public var sinceBoot: Int64

    public init(wall: Instant, boot: UUID, sinceBoot: Int64) {
        self.wall = wall
        self.boot = boot
        self.sinceBoot = sinceBoot
    }

    /// This one, or by the same clocks an earlier one of the wall clock.
    func before(_ wall: Instant?) -> ClockReading {
        guard let wall, wall < self.wall else { return self }
        let passed = self.wall.since(wall)
        return ClockReading(wall: wall, boot: boot, sinceBoot: sinceBoot.saturatingDifference(passed))
    }

    /// How far the wall clock is ahead of the other.
    var ahead: Int64 { wall.milliseconds.saturatingDifference(sinceBoot) }
}

/// What becomes of an occurrence that is noticed more than a minute too late.
public enum MissedPolicy: Hashable, Sendable, Codable {
    /// It fires late if no more than so many milliseconds have passed.
    case deliver(within: Int64)
    /// It does not fire.
    case drop

    /// How late an occurrence may be noticed without being missed, in milliseconds.
    public static let grace: Int64 = 60_000
    /// Late by up to a day.
    public static let standard = MissedPolicy.deliver(within: GregorianCalendar.millisecondsPerDay)

    /// Whether what is noticed so late, in milliseconds, fires.
    func fires(lateBy late: Int64) -> Bool {
        switch self {
        case _ where late <= Self.grace: true
        case .deliver(let window): late <= window
        case .drop: false
        }
    }
}
