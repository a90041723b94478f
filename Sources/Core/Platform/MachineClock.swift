import CLinux

/// The machine's clocks, in milliseconds.
package enum MachineClock {
    /// The time since 1970 UTC, without leap seconds; it may be set (CLOCK_REALTIME).
    package static var wall: Int64 { aldaba_clock_read(aldaba_clock_wall) }

    /// The time since the machine started, including sleep; it never goes back (CLOCK_BOOTTIME).
    package static var sinceBoot: Int64 { aldaba_clock_read(aldaba_clock_boot) }
}
