import NIOCore
import Synchronization

/// The connections that there are, so that those which say nothing keep nobody out.
final class AppConnectionLimiter: Sendable {
    private struct State {
        var present: Set<ObjectIdentifier> = []
        /// Those that have not said anything, the oldest first.
        var silent: [any Channel] = []
    }

    private let state = Mutex(State())
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// - Returns: Whether there is room; where there is none, the oldest that has said nothing is closed and makes it.
    func enter(_ channel: any Channel) -> Bool {
        let (mayEnter, leaves) = state.withLock { state -> (Bool, (any Channel)?) in
            var leaves: (any Channel)?
            if state.present.count >= limit {
                guard !state.silent.isEmpty else { return (false, nil) }
                let oldest = state.silent.removeFirst()
                state.present.remove(ObjectIdentifier(oldest))
                leaves = oldest
            }
            state.present.insert(ObjectIdentifier(channel))
            state.silent.append(channel)
            return (true, leaves)
        }
        leaves?.close(promise: nil)
        return mayEnter
    }

    /// It has said something: it is not asked to make room any more.
    func spoke(_ channel: any Channel) {
        state.withLock { $0.silent.removeAll { $0 === channel } }
    }

    func leave(_ channel: any Channel) {
        state.withLock { state in
            state.present.remove(ObjectIdentifier(channel))
            state.silent.removeAll { $0 === channel }
        }
    }
}
