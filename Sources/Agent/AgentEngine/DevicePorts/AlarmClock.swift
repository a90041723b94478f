import PushCore
import Scheduling

/// The system's clocks, which signal due times to the agent; a port.
///
/// Every method may be called on any thread and returns at once.
package protocol AlarmClock: Sendable {
    /// The present reading of the clocks.
    func now() -> ClockReading

    /// Begins to report. Called once.
    ///
    /// - Parameter events: Called on a thread of the clock's; must not block.
    func start(events: @escaping @Sendable (AlarmClockEvent) -> Void)

    /// Rings once when the wall clock has reached this instant, also when it is set past it or the machine slept
    /// through it; takes the place of what was armed before. `nil` rings no more.
    func arm(_ deadline: Timestamp?)

    /// Ends its thread; nothing is reported any more.
    func stop()
}

/// An event of the clocks.
package enum AlarmClockEvent: Sendable, Hashable {
    /// The instant has come that was armed last.
    case rang
    /// The wall clock was set, or the machine has slept: scheduled requests must be checked again.
    case wallClockChanged
    /// The machine may be in another zone, or zones may have other rules.
    case zoneChanged
}
