import Logging
import Observability
import PushModel
import ServerCore
import Synchronization

/// Tells the operator which upstream messages were refused: at most one log line in ten seconds for a whole endpoint,
/// with the number of refusals. Thread-safe.
final class UpstreamRefusalReport: Sendable {
    private struct State {
        /// Uptime in milliseconds.
        var silentUntil = Int64.min
        var unsaid = 0
    }

    static let silenceMilliseconds: Int64 = 10_000

    private let logger: Logger
    private let state = Mutex(State())

    init(logger: Logger) { self.logger = logger }

    /// A message was refused, at an uptime in milliseconds.
    ///
    /// - Returns: How many refusals the line counts that was written now; `nil` when none was written.
    @discardableResult
    func refused(_ refusal: UpstreamRefusal, of device: DeviceID, at uptime: Int64) -> Int? {
        let unsaid = state.withLock { state -> Int? in
            guard uptime >= state.silentUntil else {
                state.unsaid += 1
                return nil
            }
            defer { state.unsaid = 0 }
            state.silentUntil = uptime + Self.silenceMilliseconds
            return state.unsaid
        }
        guard let unsaid else { return nil }
        logger.warning(
            "an upstream message was refused: \(refusal.code), \(refusal.reason)",
            metadata: [LogKey.device: "\(device)", LogKey.count: "\(unsaid + 1)"])
        return unsaid + 1
    }
}
