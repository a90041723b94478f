import PushCore
import Synchronization

/// A server's clock that tests can advance. Thread-safe.
package final class TestClock: Sendable {
    /// The furthest that the clock may be ahead of the machine's: ten years.
    package static let limit = Duration.seconds(3650 * 86_400)

    private let machine: @Sendable () -> Timestamp
    private let ahead = Atomic<Int64>(0)
    /// The advances: the machine's time of each, and the milliseconds by which the clock was ahead from then on.
    private let advances = Mutex<[(at: Timestamp, ahead: Int64)]>([])
    private let followers = Mutex<[@Sendable () -> Void]>([])

    /// Shows the machine's time until it is advanced.
    package init(_ machine: @escaping @Sendable () -> Timestamp) { self.machine = machine }

    /// The time that the server goes by.
    package var now: Timestamp { Timestamp(rawValue: machine().rawValue + ahead.load(ordering: .relaxed)) }

    /// The time by which the clock is ahead.
    package var advanced: Duration { .milliseconds(ahead.load(ordering: .relaxed)) }

    /// The time by the machine's clock, which senders go by.
    package var machineTime: Timestamp { machine() }

    /// The server's time at a time of the machine's clock: what a sender wrote before an advance ages by it.
    package func time(ofMachine instant: Timestamp) -> Timestamp {
        let ahead = advances.withLock { $0.last { $0.at <= instant }?.ahead } ?? 0
        return Timestamp(rawValue: instant.rawValue + ahead)
    }

    /// Has a closure be called after every advance, such as a periodic task's that would come later.
    package func follow(_ advanced: @escaping @Sendable () -> Void) { followers.withLock { $0.append(advanced) } }

    /// Advances the clock.
    ///
    /// - Throws: A refusal beyond ``limit``.
    package func advance(by duration: Duration) throws {
        try advances.withLock { advances in
            guard advanced + duration <= Self.limit else {
                throw ControlError.invalid("the clock would be more than ten years ahead, which is the limit")
            }
            let total = ahead.add(duration.components.seconds * 1000, ordering: .relaxed).newValue
            // Tokens give their time in whole seconds.
            let second = Timestamp(seconds: machine().rawValue / 1000)
            if advances.last?.at == second { advances.removeLast() }
            advances.append((second, total))
        }
        for follower in followers.withLock({ $0 }) { follower() }
    }
}
