import DeviceSession
import Machine
import NIOCore
import PushModel

extension SessionTime {
    /// The moment of the call, by the clocks of this machine.
    public static func now() -> SessionTime {
        SessionTime(
            uptime: Int64(clamping: NIODeadline.now().uptimeNanoseconds / 1_000_000),
            wall: Timestamp(rawValue: MachineClock.wall))
    }

    /// The instant of an uptime on the event loops' clock.
    static func deadline(ofUptime uptime: Int64) -> NIODeadline {
        let (nanoseconds, overflow) = UInt64(clamping: uptime).multipliedReportingOverflow(by: 1_000_000)
        return overflow ? .distantFuture : .uptimeNanoseconds(nanoseconds)
    }
}
