import Synchronization

/// The faults that tests have set, in their order. Thread-safe.
package final class FaultPlan: Sendable {
    /// The maximum number of faults.
    package static let limit = 1000

    private struct State {
        var faults: [Fault] = []
        var last = 0
    }

    private let state = Mutex(State())

    /// Has no faults yet.
    package init() {}

    /// Adds a fault at the end.
    ///
    /// - Returns: It with its number; `nil` when there are too many.
    package func add(_ fault: Fault) -> Fault? {
        state.withLock { state in
            guard state.faults.count < Self.limit else { return nil }
            state.last += 1
            var fault = fault
            fault.number = state.last
            state.faults.append(fault)
            return fault
        }
    }

    /// The faults in their order, also those that every request has got.
    package var all: [Fault] { state.withLock { $0.faults } }

    /// Removes a fault.
    ///
    /// - Returns: Whether there was one.
    package func remove(_ number: Int) -> Bool {
        state.withLock { state in
            let before = state.faults.count
            state.faults.removeAll { $0.number == number }
            return state.faults.count < before
        }
    }

    /// Removes the faults of a namespace, or all.
    ///
    /// - Returns: The number of those that were removed.
    package func removeAll(namespace: String?) -> Int {
        state.withLock { state in
            let before = state.faults.count
            state.faults.removeAll { namespace == nil || $0.selection.namespace == namespace }
            return before - state.faults.count
        }
    }

    /// The fault that a request gets; `nil` for most.
    package func fault(for content: ReceivedRequest.Content, _ parties: ReceivedRequest.Parties) -> Fault? {
        next { $0.action != .expiredCertificate && $0.selection.fits(content, parties) }
    }

    /// Uses up a fault, and returns whether the next connection is shown a certificate that has expired.
    package func takeExpiredCertificate() -> Bool { next { $0.action == .expiredCertificate } != nil }

    private func next(_ fits: (Fault) -> Bool) -> Fault? {
        state.withLock { state in
            for index in state.faults.indices where fits(state.faults[index]) {
                if state.faults[index].take() { return state.faults[index] }
            }
            return nil
        }
    }
}
