import Synchronization

/// A signal that messages were stored. It does not contain which: listeners read the store.
package final class MessageArrivalSignal: Sendable {
    private struct State {
        var next = 0
        var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
    }

    private let state = Mutex(State())

    /// Creates a signal without listeners.
    package init() {}

    /// Wakes all listeners; one that is busy is woken once more after that.
    package func send() {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield() }
    }

    /// A stream of the signals from now on, until the stream is released.
    package func listen() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.next += 1
            state.listeners[state.next] = continuation
            return state.next
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }
}
