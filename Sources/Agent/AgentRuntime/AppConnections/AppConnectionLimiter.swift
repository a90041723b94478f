import AgentEngine
import NIOCore
import Synchronization

/// The open connections, limited so that silent ones do not keep new ones out.
final class AppConnectionLimiter: Sendable {
    private struct State {
        var present: Set<ObjectIdentifier> = []
        /// The connections that have not sent anything yet, the oldest first.
        var silent: [any Channel] = []
    }

    private let state = Mutex(State())
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// - Returns: Whether the connection is accepted. At the limit, the oldest silent connection is closed for it.
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

    /// Marks a connection as active: it has sent something, and is not closed for a new one any more.
    func markActive(_ channel: any Channel) {
        state.withLock { $0.silent.removeAll { $0 === channel } }
    }

    func leave(_ channel: any Channel) {
        state.withLock { state in
            state.present.remove(ObjectIdentifier(channel))
            state.silent.removeAll { $0 === channel }
        }
    }
}
