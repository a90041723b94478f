import PushCore
import Synchronization

/// The health of the store: whether commits succeed. Thread-safe.
package final class StoreHealth: Sendable {
    /// A series of failed commits.
    package struct Failure: Hashable, Sendable {
        /// The time of the first failure.
        package var since: Timestamp
        /// The reason of the last failure, in a few words.
        package var reason: String
        /// Whether the store's file is damaged: it does not repair itself, and what it stores may not be found again.
        package var isDamage = false
        /// The time of the last failure.
        var last: Timestamp

        init(since: Timestamp, reason: String, isDamage: Bool = false, last: Timestamp? = nil) {
            self.since = since
            self.reason = reason
            self.isDamage = isDamage
            self.last = last ?? since
        }
    }

    /// The time without failures after which the store is healthy: a full disk still takes small writes, now and then.
    static let calm = Duration.seconds(5)

    private let state = Mutex<Failure?>(nil)

    /// Creates the health of a store to which nothing was committed yet: no failure.
    package init() {}

    /// The present failure; `nil` before the first, and once a commit succeeds some seconds after the last. Damage
    /// remains until the server ends.
    package var failure: Failure? { state.withLock { $0 } }

    func committed(at now: Timestamp) {
        state.withLock { state in
            guard let failure = state, !failure.isDamage else { return }
            // A clock that was set back must not keep the store failing.
            let calm = now.duration(since: failure.last)
            if calm < .zero || calm >= Self.calm { state = nil }
        }
    }

    func failed(_ error: any Error, at now: Timestamp) {
        let failure = error as? any StoreFailure
        state.withLock { state in
            guard state?.isDamage != true else { return }
            state = Failure(
                since: state?.since ?? now, reason: failure?.reason ?? "the store cannot commit",
                isDamage: failure?.isDamage ?? false, last: now)
        }
    }

    /// - Throws: ``DamagedStore`` once damage was found: nothing may be written to the store any more.
    func requireSound() throws {
        if let failure, failure.isDamage { throw DamagedStore(reason: failure.reason) }
    }
}

/// An error of a store with a reason that may be shown to any user: no statements, paths or values.
package protocol StoreFailure: Error {
    /// The reason of the failure, in a few words.
    var reason: String { get }
    /// Whether the store's file is damaged.
    var isDamage: Bool { get }
    /// Whether the transaction failed because of another node's: nothing has changed, and it may be tried again at once.
    var isConflict: Bool { get }
}

extension StoreFailure {
    /// No damage by default: most failures are temporary.
    package var isDamage: Bool { false }
    /// No conflict by default.
    package var isConflict: Bool { false }
}

/// An error: the store's file was found to be damaged before, and nothing was tried.
struct DamagedStore: StoreFailure {
    let reason: String
    var isDamage: Bool { true }
}
