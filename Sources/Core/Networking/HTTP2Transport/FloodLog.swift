import Logging
import Metrics
import NIOCore
import PushCore
import Synchronization

/// Counts the connections that were closed for too many frames without work, and says so in the log at most once in ten
/// seconds. Thread-safe.
final class FloodLog: Sendable {
    private let counters: [FrameBudget.Kind: Counter]
    private let logger: Logger
    private let limit = Mutex(MessageLimit(milliseconds: 10_000))

    /// Makes the report of one listener.
    init(logger: Logger) {
        self.logger = logger
        counters = Dictionary(
            uniqueKeysWithValues: FrameBudget.Kind.allCases.map {
                ($0, Counter(label: "aldaba_http2_floods_total", dimensions: [("kind", $0.rawValue)]))
            })
    }

    /// A connection is closed, since no token was left for a frame of that kind.
    func closed(_ kind: FrameBudget.Kind, from peer: SocketAddress?, at now: NIODeadline) {
        counters[kind]?.increment()
        let uptime = Int64(now.uptimeNanoseconds / 1_000_000)
        guard limit.withLock({ $0.count(at: uptime) }) != nil else { return }
        logger.warning(
            "a connection is closed, since it sends too many frames that complete no request, at last \(kind.rawValue)",
            metadata: [LogKey.address: "\(peer.map(\.description) ?? "unknown")"])
    }
}
