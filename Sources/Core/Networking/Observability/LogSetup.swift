import Logging

/// The form of a log's lines.
package enum LogFormat: String, Sendable, CaseIterable {
    /// Time, level, logger, metadata and message, for people.
    case text
    /// JSON, one object per line, for programs.
    case json
}

/// The setup of a program's log: all lines to standard error, from one level on.
package enum LogSetup {
    /// Sets the process's log up. Call it once, before the first logger is made; a second call traps, as swift-log's
    /// own does.
    package static func bootstrap(level: Logger.Level, format: LogFormat = .text) {
        LoggingSystem.bootstrap { label -> any LogHandler in
            switch format {
            case .text: return handler(label: label, level: level, to: .standardError)
            case .json:
                var handler = JSONLogHandler(label: label) { LogLines.standardError.take($0) }
                handler.logLevel = level
                return handler
            }
        }
    }

    /// The handler that writes a logger's lines.
    static func handler(label: String, level: Logger.Level, to lines: LogLines) -> StreamLogHandler {
        var handler = StreamLogHandler(label: label, stream: lines)
        handler.logLevel = level
        return handler
    }
}
