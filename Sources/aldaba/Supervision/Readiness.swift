import Synchronization

/// A value that becomes known once, and the tasks that wait for it.
package final class Readiness<Value: Sendable>: Sendable {
    private enum State {
        case waiting([CheckedContinuation<Value, any Error>])
        case known(Result<Value, any Error>)
    }

    private let state = Mutex(State.waiting([]))

    /// Nothing is known yet.
    package init() {}

    /// The value, if it is known by now.
    package var current: Value? {
        state.withLock { state in
            guard case .known(let result) = state else { return nil }
            return try? result.get()
        }
    }

    /// Makes the value known; only the first call counts.
    package func settle(_ result: Result<Value, any Error>) {
        let waiting = state.withLock { state -> [CheckedContinuation<Value, any Error>] in
            guard case .waiting(let waiting) = state else { return [] }
            state = .known(result)
            return waiting
        }
        for continuation in waiting { continuation.resume(with: result) }
    }

    /// Waits for the value.
    ///
    /// - Throws: the failure that it was settled with; `CancellationError` when the waiting task is cancelled,
    ///   which settles it for all.
    package func value() async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let known = state.withLock { state -> Result<Value, any Error>? in
                    switch state {
                    case .known(let result): return result
                    case .waiting(let waiting):
                        state = .waiting(waiting + [continuation])
                        return nil
                    }
                }
                if let known { continuation.resume(with: known) }
            }
        } onCancel: {
            settle(.failure(CancellationError()))
        }
    }
}
