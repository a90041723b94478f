import Logging
import NIOCore
import Observability
import Synchronization

/// Tells the operator why connections end whose providers only see that they do. One log line in ten seconds at most.
/// Thread-safe.
final class LegacyReport: Sendable {
    private let logger: Logger
    private let limit = Mutex(MessageLimit(milliseconds: 10_000))

    init(logger: Logger) { self.logger = logger }

    /// Says what has happened to a connection, unless a line was written just before; then it is counted for the next.
    func say(_ what: String, from address: SocketAddress?) {
        let now = Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000)
        guard let count = limit.withLock({ $0.count(at: now) }) else { return }
        logger.warning(
            "\(what)",
            metadata: [
                LogKey.listener: "legacy", LogKey.address: "\(address.map { "\($0)" } ?? "unknown")",
                LogKey.count: "\(count)",
            ])
    }
}
