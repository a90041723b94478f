import NIOCore
import Platform
import PushCore

extension SessionTime {
    /// The time of the call, on this machine's clocks.
    package static func now() -> SessionTime {
        SessionTime(
            uptime: Int64(clamping: NIODeadline.now().uptimeNanoseconds / 1_000_000),
            wall: Timestamp(rawValue: MachineClock.wall))
    }

    /// The deadline of an uptime on the event loops' clock.
    static func deadline(ofUptime uptime: Int64) -> NIODeadline {
        let (nanoseconds, overflow) = UInt64(clamping: uptime).multipliedReportingOverflow(by: 1_000_000)
        return overflow ? .distantFuture : .uptimeNanoseconds(nanoseconds)
    }
}
