import PushModel
import Synchronization

/// Whether the store takes what is committed. Thread-safe.
public final class StoreHealth: Sendable {
    /// Commits that fail, one after the other.
    public struct Failure: Hashable, Sendable {
        /// When the first of them failed.
        public var since: Timestamp
        /// Why the last of them failed, in a few words.
        public var reason: String
        /// Whether the store's file is damaged: it does not mend by itself, and what it takes may not be found again.
        public var isDamage = false
        /// When the last of them failed.
        var last: Timestamp

        init(since: Timestamp, reason: String, isDamage: Bool = false, last: Timestamp? = nil) {
            self.since = since
            self.reason = reason
            self.isDamage = isDamage
            self.last = last ?? since
        }
    }

    /// For how long nothing must have failed: a disk that is full still takes what is small, now and then.
    static let calm = Duration.seconds(5)

    private let state = Mutex<Failure?>(nil)

    /// The health of a store to which nothing was committed yet: no failure.
    public init() {}

    /// What is wrong; `nil` before the first failure, and once a commit succeeds some seconds after the last. Damage stays
    /// until the server ends.
    public var failure: Failure? { state.withLock { $0 } }

    func committed(at now: Timestamp) {
        state.withLock { state in
            guard let failure = state, !failure.isDamage else { return }
            // A clock that was set back does not keep it failing.
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

    /// - Throws: ``DamagedStore`` once damage was found: nothing may be entrusted to the store any more.
    func requireSound() throws {
        if let failure, failure.isDamage { throw DamagedStore(reason: failure.reason) }
    }
}

/// An error of a store that says why in words that anybody may read: no statements, paths or values.
public protocol StoreFailure: Error {
    /// Why the store failed, in a few words.
    var reason: String { get }
    /// Whether the store's file is damaged.
    var isDamage: Bool { get }
}

extension StoreFailure {
    /// Most failures pass.
    public var isDamage: Bool { false }
}

/// The store's file was found to be damaged before; nothing was tried.
struct DamagedStore: StoreFailure {
    let reason: String
    var isDamage: Bool { true }
}
