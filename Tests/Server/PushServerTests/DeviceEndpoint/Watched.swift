import Synchronization

/// A value that tests wait on: every change looks whether somebody waits for what it now is.
final class Watched<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var waiting: [(@Sendable (Value) -> Bool, CheckedContinuation<Value, Never>)] = []
    }

    private let state: Mutex<State>

    init(_ value: Value) { state = Mutex(State(value: value)) }

    var value: Value { state.withLock { $0.value } }

    func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        let (result, value, ready) = state.withLock { state in
            let result = body(&state.value)
            let ready = state.waiting.filter { $0.0(state.value) }.map(\.1)
            let value = state.value
            state.waiting.removeAll { $0.0(value) }
            return (result, value, ready)
        }
        for continuation in ready { continuation.resume(returning: value) }
        return result
    }

    /// Suspends until the value is as wanted; the test's time limit bounds it.
    @discardableResult
    func wait(until isWanted: @escaping @Sendable (Value) -> Bool) async -> Value {
        await withCheckedContinuation { continuation in
            let now = state.withLock { state -> Value? in
                if isWanted(state.value) { return state.value }
                state.waiting.append((isWanted, continuation))
                return nil
            }
            if let now { continuation.resume(returning: now) }
        }
    }
}
