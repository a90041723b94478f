import Synchronization

/// Tells those who wait for messages that some came. It says nothing of which: who hears it reads the store.
package final class MessageBell: Sendable {
    private struct State {
        var next = 0
        var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
    }

    private let state = Mutex(State())

    /// A bell that nobody hears yet.
    package init() {}

    /// Everybody who listens is woken; who is at work is woken once more after that.
    package func ring() {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield() }
    }

    /// What is heard from now on, until the stream is let go.
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
