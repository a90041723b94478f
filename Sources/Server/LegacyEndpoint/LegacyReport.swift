import Logging
import NIOCore
import Observability
import Synchronization

/// Tells the operator why connections end whose providers only see that they do. One log line in ten seconds at most.
/// Thread-safe.
final class LegacyReport: Sendable {
    private struct State {
        var silentUntil = NIODeadline.uptimeNanoseconds(0)
        var unsaid = 0
    }

    private let logger: Logger
    private let state = Mutex(State())

    init(logger: Logger) { self.logger = logger }

    /// Says what has happened to a connection, unless a line was written just before; then it is counted for the next.
    func say(_ what: String, from address: SocketAddress?) {
        let now = NIODeadline.now()
        let count = state.withLock { state -> Int? in
            state.unsaid += 1
            guard now >= state.silentUntil else { return nil }
            state.silentUntil = now + .seconds(10)
            defer { state.unsaid = 0 }
            return state.unsaid
        }
        guard let count else { return }
        logger.warning(
            "\(what)",
            metadata: [
                LogKey.listener: "legacy", LogKey.address: "\(address.map { "\($0)" } ?? "unknown")",
                LogKey.count: "\(count)",
            ])
    }
}
