import Logging
import Synchronization

/// Keeps what is logged.
final class RecordingLog: Sendable {
    private let events = Mutex<[(level: Logger.Level, message: String)]>([])

    /// The messages from a level on.
    func messages(from level: Logger.Level) -> [String] {
        events.withLock { $0.filter { $0.level >= level }.map(\.message) }
    }

    var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: RecordingLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace
        var metadataProvider: Logger.MetadataProvider?

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.events.withLock { $0.append((event.level, "\(event.message) \(event.metadata ?? [:])")) }
        }
    }
}
