import AldabaConfiguration
import Logging
import Networking

extension ConfigurationValues {
    /// The configured log level.
    var logLevel: Logger.Level { text(.logLevel).flatMap(Logger.Level.init(rawValue:)) ?? .info }

    /// The configured form of the log's lines.
    var logFormat: LogFormat { text(.logFormat).flatMap(LogFormat.init(rawValue:)) ?? .text }

    /// Logs what is allowed and unwise.
    func warn(_ logger: Logger) { for warning in warnings { logger.warning("\(warning)") } }
}
