import Synchronization

/// The ``LoginRate`` of an endpoint, with the number of connections that wait for their login. Thread-safe. Times are
/// milliseconds of uptime.
final class LoginGate: Sendable {
    private struct State {
        var rate: LoginRate
        var waiting = 0

        mutating func reject(at uptime: Int64) -> Int64? {
            rate.reject(at: uptime, waiting: waiting, random: .random(in: 0...UInt64.max))
        }
    }

    private let state: Mutex<State>

    /// Creates a gate without waiting connections.
    init(_ rate: LoginRate) { state = Mutex(State(rate: rate)) }

    /// Checks a connection that has sent nothing yet, as for ``LoginRate/reject(at:waiting:random:)``.
    func reject(at uptime: Int64) -> Int64? { state.withLock { $0.reject(at: uptime) } }

    /// Checks a connection at its first bytes, and counts it if it may continue, until ``left()``.
    func arrived(at uptime: Int64) -> Int64? {
        state.withLock { state in
            let pause = state.reject(at: uptime)
            if pause == nil { state.waiting += 1 }
            return pause
        }
    }

    /// Ends the counting of a connection.
    func left() { state.withLock { $0.waiting -= 1 } }

    /// Counts a login; `nil` when it is accepted, otherwise the milliseconds after which the device must reconnect.
    func admit(at uptime: Int64) -> Int64? {
        state.withLock { $0.rate.admit(at: uptime, random: .random(in: 0...UInt64.max)) }
    }
}
