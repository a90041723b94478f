import Synchronization

/// The ``LoginRate`` of an endpoint, with the number of connections that wait for their login. Thread-safe. Times are
/// milliseconds of uptime.
final class LoginGate: Sendable {
    private struct State {
        var rate: LoginRate
        var waiting = 0

        mutating func turnAway(at uptime: Int64) -> Int64? {
            rate.turnAway(at: uptime, waiting: waiting, random: .random(in: 0...UInt64.max))
        }
    }

    private let state: Mutex<State>

    /// A gate at which nobody waits.
    init(_ rate: LoginRate) { state = Mutex(State(rate: rate)) }

    /// Judges a connection that has said nothing yet; as ``LoginRate/turnAway(at:waiting:random:)``.
    func turnAway(at uptime: Int64) -> Int64? { state.withLock { $0.turnAway(at: uptime) } }

    /// Judges a connection that begins to speak, and counts it when it may go on, until ``left()``.
    func arrived(at uptime: Int64) -> Int64? {
        state.withLock { state in
            let pause = state.turnAway(at: uptime)
            if pause == nil { state.waiting += 1 }
            return pause
        }
    }

    /// A connection that was counted waits no longer.
    func left() { state.withLock { $0.waiting -= 1 } }

    /// Counts a login; `nil` when it is let in, else after how many milliseconds the device is to come again.
    func admit(at uptime: Int64) -> Int64? {
        state.withLock { $0.rate.admit(at: uptime, random: .random(in: 0...UInt64.max)) }
    }
}
