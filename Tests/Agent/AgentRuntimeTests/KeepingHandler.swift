import AldabaTestSupport
import Logging

/// Keeps what is logged.
struct KeepingHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace
    let lines: Inbox<String>

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.put("\(event.level) \(event.message) \(event.metadata ?? [:])") }
}
