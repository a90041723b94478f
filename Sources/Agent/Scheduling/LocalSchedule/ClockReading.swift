import CoreValues
import Foundation

/// A reading of the system's clocks at one moment.
package struct ClockReading: Hashable, Sendable {
    /// The wall clock, CLOCK_REALTIME: people and network time set it.
    package var wall: Timestamp
    /// The boot id (`/proc/sys/kernel/random/boot_id`): Linux makes a new one at each boot.
    package var boot: UUID
    /// CLOCK_BOOTTIME in milliseconds: it counts from the boot, also in suspend, and is never set.
    package var sinceBoot: Int64

    /// A reading of both clocks.
    package init(wall: Timestamp, boot: UUID, sinceBoot: Int64) {
        self.wall = wall
        self.boot = boot
        self.sinceBoot = sinceBoot
    }

    /// The wall clock's offset from CLOCK_BOOTTIME, in milliseconds. It changes when the wall clock is set.
    package var wallOffset: Int64 { wall.rawValue.saturatingDifference(sinceBoot) }

    /// The wall clock's reading at a time of CLOCK_BOOTTIME, unless it is set until then.
    package func wall(atBootTime milliseconds: Int64) -> Timestamp {
        Timestamp(rawValue: milliseconds.saturatingSum(wallOffset))
    }
}

/// The policy for an occurrence that is noticed more than a minute late.
package enum MissedPolicy: Hashable, Sendable, Codable {
    /// The occurrence fires if it is no later than so many milliseconds.
    case deliver(within: Int64)
    /// The occurrence does not fire.
    case drop

    /// How late an occurrence may be noticed without being missed: 60,000 milliseconds.
    package static let grace: Int64 = 60_000
    /// Fires up to a day late.
    package static let standard = MissedPolicy.deliver(within: GregorianCalendar.millisecondsPerDay)

    /// Whether an occurrence fires that is noticed so many milliseconds late.
    func fires(lateBy late: Int64) -> Bool {
        switch self {
        case _ where late <= Self.grace: true
        case .deliver(let window): late <= window
        case .drop: false
        }
    }
}
