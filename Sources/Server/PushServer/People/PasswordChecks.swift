import Dispatch
import PushCore
import Synchronization

/// Hashes passwords on a thread of its own, one after the other, so that guesses take no more than one processor.
package final class PasswordChecks: Sendable {
    /// Too many passwords wait to be checked.
    package struct Busy: Error {}

    private static let longestQueue = 32
    private let queue = DispatchQueue(label: "aldaba.passwords", qos: .utility)
    private let waiting = Mutex(0)
    private let cost: PasswordHash.Cost
    /// The hash that is compared for a person without a password.
    private let other: PasswordHash

    /// Makes a checker.
    ///
    /// - Parameter cost: The cost of new hashes.
    package init(cost: PasswordHash.Cost = .standard) {
        self.cost = cost
        other = .unknown(cost: cost)
    }

    /// Whether a password is the one of a hash; without a hash it takes as long, and is `false`.
    ///
    /// - Throws: ``Busy``.
    package func matches(_ password: String, _ hash: PasswordHash?) async throws -> Bool {
        try await run { [other] in
            let isRight = (hash ?? other).matches(password)
            return isRight && hash != nil
        }
    }

    /// The hash of a new password.
    ///
    /// - Throws: ``Busy``.
    package func hash(_ password: String) async throws -> PasswordHash {
        try await run { [cost] in try PasswordHash(of: password, cost: cost) }
    }

    private func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        let isAdmitted = waiting.withLock { count in
            guard count < Self.longestQueue else { return false }
            count += 1
            return true
        }
        guard isAdmitted else { throw Busy() }
        defer { waiting.withLock { $0 -= 1 } }
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result { try work() }) }
        }
    }
}
