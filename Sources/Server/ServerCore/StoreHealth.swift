import PushModel
import Synchronization

/// Whether the store takes what is committed, by the last commit. Thread-safe.
public final class StoreHealth: Sendable {
    /// Commits that fail, one after the other.
    public struct Failure: Hashable, Sendable {
        /// When the first of them failed.
        public var since: Timestamp
        /// Why the last of them failed, in a few words.
        public var reason: String
    }

    private let state = Mutex<Failure?>(nil)

    /// The health of a store to which nothing was committed yet: no failure.
    public init() {}

    /// What is wrong; `nil` after a commit that succeeded, and before the first.
    public var failure: Failure? { state.withLock { $0 } }

    func committed() { state.withLock { $0 = nil } }

    func failed(_ error: any Error, at now: Timestamp) {
        let reason = (error as? any StoreFailure)?.reason ?? "the store cannot commit"
        state.withLock { $0 = Failure(since: $0?.since ?? now, reason: reason) }
    }
}

/// An error of a store that says why in words that anybody may read: no statements, paths or values.
public protocol StoreFailure: Error {
    /// Why the store failed, in a few words.
    var reason: String { get }
}
