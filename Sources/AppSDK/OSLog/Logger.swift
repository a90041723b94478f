import Foundation

/// How much a message matters. Raw values are Apple's.
public struct OSLogType: RawRepresentable, Hashable, Sendable {
    /// Apple's number.
    public let rawValue: UInt8
    /// Apple's number.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Messages of general use.
    public static let `default` = OSLogType(rawValue: 0)
    /// Messages that help to find a fault.
    public static let info = OSLogType(rawValue: 1)
    /// Messages for developers; not printed.
    public static let debug = OSLogType(rawValue: 2)
    /// Something failed.
    public static let error = OSLogType(rawValue: 16)
    /// A fault of the program.
    public static let fault = OSLogType(rawValue: 17)

    /// The word that is printed.
    var word: String {
        switch self {
        case .info: "info"
        case .debug: "debug"
        case .error: "error"
        case .fault: "fault"
        default: "notice"
        }
    }
}

/// A log of a part of an app.
///
/// Messages go to standard error, a line each: level, category and text. Those for who develops (`debug`, `trace`) are
/// not printed. A text is printed as `<private>` unless its interpolation says `privacy: .public`, as with Apple's
/// logging when no debugger is attached.
public struct Logger: Sendable {
    private let log: OSLog

    /// A log without a category.
    public init() { log = .default }
    /// A log of a part of an app.
    public init(subsystem: String, category: String) { log = OSLog(subsystem: subsystem, category: category) }
    /// A log that exists.
    public init(_ logObj: OSLog) { log = logObj }

    /// Prints a message of this level.
    public func log(level: OSLogType, _ message: OSLogMessage) { log.write(message.text, level) }
    /// Prints a message.
    public func log(_ message: OSLogMessage) { log.write(message.text, .default) }
    /// Prints nothing.
    public func trace(_ message: OSLogMessage) { log.write(message.text, .debug) }
    /// Prints nothing.
    public func debug(_ message: OSLogMessage) { log.write(message.text, .debug) }
    /// Prints a message that helps.
    public func info(_ message: OSLogMessage) { log.write(message.text, .info) }
    /// Prints a message.
    public func notice(_ message: OSLogMessage) { log.write(message.text, .default) }
    /// Prints that something may be wrong.
    public func warning(_ message: OSLogMessage) { log.write(message.text, .error) }
    /// Prints that something failed.
    public func error(_ message: OSLogMessage) { log.write(message.text, .error) }
    /// Prints that the program has a fault.
    public func critical(_ message: OSLogMessage) { log.write(message.text, .fault) }
    /// Prints that the program has a fault.
    public func fault(_ message: OSLogMessage) { log.write(message.text, .fault) }
}

/// A log of a part of an app, as ``os_log(_:log:type:_:)`` takes it.
public final class OSLog: NSObject, Sendable {
    /// The log of the app.
    public static let `default` = OSLog(subsystem: "", category: "")
    /// A log that prints nothing.
    public static let disabled = OSLog(isEnabled: false)

    private let category: String
    private let isEnabled: Bool

    /// A log of a part of an app.
    public init(subsystem: String, category: String) {
        self.category = category
        isEnabled = true
    }

    private init(isEnabled: Bool) {
        category = ""
        self.isEnabled = isEnabled
    }

    /// Whether messages of a level are printed.
    public func isEnabled(type: OSLogType) -> Bool { isEnabled && type != .debug }

    func write(_ text: String, _ type: OSLogType) {
        guard isEnabled(type: type) else { return }
        // A terminal that is gone is no reason to end the app, and there is no other place to report it.
        try? FileHandle.standardError.write(contentsOf: Data(line(text, type).utf8))
    }

    func line(_ text: String, _ type: OSLogType) -> String {
        category.isEmpty ? "\(type.word): \(text)\n" : "\(type.word): [\(category)] \(text)\n"
    }
}

/// Prints a message with the arguments that its format names: `%@`, `%{public}@`, `%d` and the like.
///
/// Texts are printed as `<private>` unless they are marked `{public}`; numbers unless they are marked `{private}`.
public func os_log(
    _ message: StaticString, log: OSLog = .default, type: OSLogType = .default, _ args: any CVarArg...
) { log.write(LogFormat.text(message.description, args), type) }

/// Prints a message with the arguments that its format names.
public func os_log(
    _ type: OSLogType, log: OSLog = .default, _ message: StaticString, _ args: any CVarArg...
) { log.write(LogFormat.text(message.description, args), type) }
