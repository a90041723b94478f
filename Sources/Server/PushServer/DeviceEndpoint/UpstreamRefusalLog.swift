import Logging
import Networking
import PushCore
import Synchronization

/// Logs refused upstream messages for the operator: at most one line in ten seconds for a whole endpoint, with the
/// number of refusals. Thread-safe.
final class UpstreamRefusalLog: Sendable {
    static let silenceMilliseconds: Int64 = 10_000

    private let logger: Logger
    private let limit = Mutex(MessageLimit(milliseconds: silenceMilliseconds))

    init(logger: Logger) { self.logger = logger }

    /// Records a refused message, at an uptime in milliseconds.
    ///
    /// - Returns: The number of refusals in the line that was written now; `nil` when none was written.
    @discardableResult
    func refused(_ refusal: UpstreamRejection, of device: DeviceID, at uptime: Int64) -> Int? {
        guard let count = limit.withLock({ $0.count(at: uptime) }) else { return nil }
        logger.warning(
            "an upstream message was refused: \(refusal.code), \(refusal.reason)",
            metadata: [LogKey.device: "\(device)", LogKey.count: "\(count)"])
        return count
    }
}
