import Synchronization

/// A signal that messages were stored. It does not contain which: listeners read the store.
package final class MessageArrivalSignal: Sendable {
    private struct State {
        var next = 0
        var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
        var forward: @Sendable () -> Void = {}
    }

    private let state = Mutex(State())

    /// Creates a signal without listeners.
    package init() {}

    /// Wakes all listeners, and those of other nodes.
    package func send() {
        wake()
        state.withLock { $0.forward }()
    }

    /// Wakes the listeners of this process; one that is busy is woken once more after that.
    func wake() { for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield() } }

    /// Calls a closure after each signal of this process.
    func forward(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.forward = body } }

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
