import Dispatch
import Logging
import PushCore
import Synchronization

/// A message about a failure that may come with every request or commit, for one when the disk is full: it is written once a
/// second at most, with how often it came since. Thread-safe.
package final class RepeatedMessage: Sendable {
    private let text: String
    private let level: Logger.Level
    private let uptime: @Sendable () -> Int64
    private let limit = Mutex(MessageLimit(milliseconds: 1000))

    /// A message that has not come yet.
    ///
    /// - Parameter uptime: Milliseconds on a clock that is never set.
    package init(
        _ text: String, level: Logger.Level = .error,
        uptime: @escaping @Sendable () -> Int64 = { Int64(DispatchTime.now().uptimeNanoseconds / 1_000_000) }
    ) {
        self.text = text
        self.level = level
        self.uptime = uptime
    }

    /// Writes the message with an error, or counts it for the next line.
    ///
    /// - Parameter amount: How much it adds to the count.
    package func log(_ error: (any Error)? = nil, adding amount: Int = 1, to logger: Logger) {
        guard let count = limit.withLock({ $0.count(amount, at: uptime()) }) else { return }
        var metadata: Logger.Metadata = error.map { [LogKey.error: "\($0)"] } ?? [:]
        if count != 1 { metadata[LogKey.count] = "\(count)" }
        logger.log(level: level, "\(text)", metadata: metadata)
    }
}
