/// The limit on logins: a rate per second, and a burst on top. Each rejected device gets its own time at which to
/// reconnect, so that devices do not reconnect together.
struct LoginRate: Sendable {
    /// The rate and the burst of an endpoint.
    struct Limits: Sendable {
        /// The number of logins per second.
        var perSecond: Int
        /// The number of logins at once, after a time without any.
        var burst: Int
    }

    /// The longest time after which a device is told to reconnect, in milliseconds, without the jitter.
    static let longestPause: Int64 = 300_000
    /// The shortest such time, in milliseconds.
    static let shortestPause: Int64 = 1_000

    /// The microseconds that one login takes of the rate.
    private let interval: Int64
    private let tolerance: Int64
    /// The time at which the rate is free again, in microseconds of uptime.
    private var freeAt: Int64 = 0
    /// The latest time given to a rejected device, in microseconds of uptime.
    private var lastSlot: Int64 = 0

    init(_ limits: Limits) {
        interval = max(1, 1_000_000 / Int64(max(1, limits.perSecond)))
        tolerance = interval * Int64(min(max(1, limits.burst), 1_000_000_000))
    }

    /// Counts a login at an uptime in milliseconds.
    ///
    /// - Parameter random: A random number that spreads the times of rejected devices.
    /// - Returns: `nil` when it is accepted; otherwise the milliseconds after which the device must reconnect.
    mutating func admit(at uptime: Int64, random: UInt64) -> Int64? {
        let now = Self.microseconds(uptime)
        let next = max(freeAt, now) + interval
        guard next - now > tolerance else {
            freeAt = next
            return nil
        }
        return pause(from: now, random)
    }

    /// Checks a connection before its handshake, at an uptime in milliseconds; nothing is counted.
    ///
    /// - Parameter waiting: The number of connections between their first bytes and their login. They take at most all
    ///   but one of the burst. So connections that never finish their handshake keep no device out while the rate is
    ///   free.
    /// - Returns: `nil` when it may continue; otherwise the milliseconds after which the device must reconnect.
    mutating func reject(at uptime: Int64, waiting: Int, random: UInt64) -> Int64? {
        let now = Self.microseconds(uptime)
        let (ahead, isTooMany) = interval.multipliedReportingOverflow(by: Int64(max(0, waiting)))
        let taken = min(isTooMany ? .max : ahead, tolerance - interval)
        guard max(freeAt, now) - now + taken + interval > tolerance else { return nil }
        return pause(from: now, random)
    }

    /// The uptime in microseconds, bounded so that additions cannot overflow.
    private static func microseconds(_ uptime: Int64) -> Int64 { min(max(0, uptime), .max / 4000) * 1000 }

    private mutating func pause(from now: Int64, _ random: UInt64) -> Int64 {
        // Devices that reconnect are accepted at the same rate: each gets the time slot after the previous one.
        lastSlot = max(lastSlot, now) + interval
        if lastSlot - now > Self.longestPause * 1000 { lastSlot = now + interval }
        let pause = max(Self.shortestPause, (lastSlot - now) / 1000)
        return pause + Int64(random % UInt64(pause / 2 + 1))
    }
}
