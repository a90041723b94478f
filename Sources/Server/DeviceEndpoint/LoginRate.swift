/// How many devices may log in: so many a second, and a burst on top. Those beyond get each a moment of their own at which to
/// come again, so that they do not come together.
struct LoginRate: Sendable {
    /// The rate and the burst of an endpoint.
    struct Limits: Sendable {
        /// Logins in a second.
        var perSecond: Int
        /// Logins at once, after a time without any.
        var burst: Int
    }

    /// The longest time that a device is told to stay away, in milliseconds, but for the jitter.
    static let longestPause: Int64 = 300_000
    /// The shortest one.
    static let shortestPause: Int64 = 1_000

    /// Microseconds that one login takes of the rate.
    private let interval: Int64
    private let tolerance: Int64
    /// When the rate is free again, in microseconds of uptime.
    private var freeAt: Int64 = 0
    /// The moment that the last device was sent away to, in microseconds of uptime.
    private var lastSlot: Int64 = 0

    init(_ limits: Limits) {
        interval = max(1, 1_000_000 / Int64(max(1, limits.perSecond)))
        tolerance = interval * Int64(min(max(1, limits.burst), 1_000_000_000))
    }

    /// Counts a login at an uptime in milliseconds.
    ///
    /// - Parameter random: By which the moments of those who are sent away are spread.
    /// - Returns: `nil` when it is let in; else after how many milliseconds the device is to come again.
    mutating func admit(at uptime: Int64, random: UInt64) -> Int64? {
        let now = Self.microseconds(uptime)
        let next = max(freeAt, now) + interval
        guard next - now > tolerance else {
            freeAt = next
            return nil
        }
        return pause(from: now, random)
    }

    /// Judges a connection before its handshake, at an uptime in milliseconds; nothing is counted.
    ///
    /// - Parameter waiting: How many connections are between their first bytes and their login. They take all places of the burst but
    ///   one at most: who begins a handshake and goes no further keeps nobody out while the rate is free.
    /// - Returns: `nil` when it may go on; else after how many milliseconds the device is to come again.
    mutating func turnAway(at uptime: Int64, waiting: Int, random: UInt64) -> Int64? {
        let now = Self.microseconds(uptime)
        let (ahead, isTooMany) = interval.multipliedReportingOverflow(by: Int64(max(0, waiting)))
        let taken = min(isTooMany ? .max : ahead, tolerance - interval)
        guard max(freeAt, now) - now + taken + interval > tolerance else { return nil }
        return pause(from: now, random)
    }

    /// A thousand times as much must have room, and what is added to it.
    private static func microseconds(_ uptime: Int64) -> Int64 { min(max(0, uptime), .max / 4000) * 1000 }

    private mutating func pause(from now: Int64, _ random: UInt64) -> Int64 {
        // Those who come again are let in at the same rate: each gets the place after the one before.
        lastSlot = max(lastSlot, now) + interval
        if lastSlot - now > Self.longestPause * 1000 { lastSlot = now + interval }
        let pause = max(Self.shortestPause, (lastSlot - now) / 1000)
        return pause + Int64(random % UInt64(pause / 2 + 1))
    }
}
