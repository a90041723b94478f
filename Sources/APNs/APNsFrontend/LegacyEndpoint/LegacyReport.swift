import Logging
import NIOCore
import Networking
import PushCore
import Synchronization

/// Logs the reasons for which connections end, since their providers only see that they do. At most one line in ten
/// seconds. Thread-safe.
final class LegacyReport: Sendable {
    private let logger: Logger
    private let limit = Mutex(MessageLimit(milliseconds: 10_000))

    init(logger: Logger) { self.logger = logger }

    /// Logs an event of a connection, unless a line was written just before; then it is counted for the next.
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
