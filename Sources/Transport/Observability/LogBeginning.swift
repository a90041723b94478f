import Logging

/// How a program's log begins: everything to standard error, from one level on.
public enum LogBeginning {
    /// Sets the process's log up. To be called once, before the first logger is made; a second call traps,
    /// as swift-log's own does.
    public static func bootstrap(level: Logger.Level) {
        LoggingSystem.bootstrap { handler(label: $0, level: level, to: .standardError) }
    }

    /// What writes a logger's lines.
    static func handler(label: String, level: Logger.Level, to lines: LogLines) -> StreamLogHandler {
        var handler = StreamLogHandler(label: label, stream: lines)
        handler.logLevel = level
        return handler
    }
}
