import PushCore
import Synchronization

/// A source of ids for every thread, below a durable ceiling. Thread-safe.
///
/// The service renews the ceiling before each batch and on a timer, long before it is reached. If it is reached
/// nevertheless, no id is made until it is renewed.
final class NotificationIDSource: Sendable {
    private let generator: Mutex<NotificationIDGenerator>
    private let store: any NotificationStore
    private let clock: @Sendable () -> Timestamp
    /// The time at which the ceiling is to be renewed next.
    private let renewAt = Mutex(Timestamp(rawValue: .min))

    /// The distance of the ceiling from the present, and the interval at which it is moved.
    private static let reach = Duration.seconds(60)
    private static let interval = Duration.seconds(20)

    init(store: any NotificationStore, node: UInt16, clock: @escaping @Sendable () -> Timestamp) throws {
        self.store = store
        self.clock = clock
        generator = Mutex(NotificationIDGenerator(node: node, highWater: try store.highWater()))
        try renew()
    }

    /// Makes the ceiling durable for the next minute, if it is time. Called by the service only.
    func renew() throws {
        let now = clock()
        guard renewAt.withLock({ now >= $0 }) else { return }
        try raiseCeiling(at: now)
    }

    private func raiseCeiling(at now: Timestamp) throws {
        let ceiling = generator.withLock { $0.ceiling(until: now + Self.reach) }
        try store.apply([.raiseHighWater(to: ceiling)])
        generator.withLock { $0.raiseCeiling(to: ceiling) }
        renewAt.withLock { $0 = now + Self.interval }
    }

    func next(now: Timestamp) -> NotificationID? { generator.withLock { $0.next(now: now) } }

    /// Takes ids for a batch whose mailboxes other nodes change too. Called by the service only.
    ///
    /// The ids are whole milliseconds, so that a fast succession of batches may use them up before their time.
    func reserve(_ count: Int, now: Timestamp) throws -> NotificationIDBlock {
        while true {
            if let block = generator.withLock({ $0.reserve(count, now: now) }) { return block }
            try raiseCeiling(at: now)
        }
    }
}
