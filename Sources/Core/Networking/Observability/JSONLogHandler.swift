import Glibc
import Logging

/// Writes each line of a log as one JSON object (RFC 8259): `time`, `level`, `logger`, `message`, and where there are
/// any `error` and the members of `metadata`.
struct JSONLogHandler: LogHandler {
    let label: String
    let take: @Sendable (String) -> Void
    let now: @Sendable () -> timespec
    var metadataProvider: Logger.MetadataProvider?
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    /// - Parameters:
    ///   - take: Receives every line with its line feed, in one piece.
    ///   - now: The wall clock.
    init(
        label: String, now: @escaping @Sendable () -> timespec = Self.wallClock,
        take: @escaping @Sendable (String) -> Void
    ) {
        self.label = label
        self.now = now
        self.take = take
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let own = event.metadata { all.merge(own) { $1 } }
        var members = [
            ("time", Self.text(Self.instant(now()))), ("level", Self.text(event.level.rawValue)),
            ("logger", Self.text(label)), ("message", Self.text(event.message.description)),
        ]
        if let error = event.error { members.append(("error", Self.text("\(error)"))) }
        if !all.isEmpty { members.append(("metadata", Self.object(all))) }
        take("{\(members.map { "\"\($0)\":\($1)" }.joined(separator: ","))}\n")
    }

    private static func object(_ metadata: Logger.Metadata) -> String {
        let members = metadata.sorted { $0.key < $1.key }.map { "\(text($0.key)):\(value($0.value))" }
        return "{\(members.joined(separator: ","))}"
    }

    private static func value(_ value: Logger.Metadata.Value) -> String {
        switch value {
        case .string(let string): text(string)
        case .stringConvertible(let convertible): text(convertible.description)
        case .dictionary(let dictionary): object(dictionary)
        case .array(let array): "[\(array.map(self.value).joined(separator: ","))]"
        }
    }

    /// A JSON string. All characters that a terminal or a reader of lines does not treat as text are escaped.
    static func text(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\u{0}"..."\u{1f}", "\u{7f}"..."\u{9f}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// An instant in UTC with milliseconds, in the form of RFC 3339.
    static func instant(_ time: timespec) -> String {
        var (seconds, parts) = (time.tv_sec, tm())
        gmtime_r(&seconds, &parts)
        func digits(_ number: some BinaryInteger, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let day = "\(digits(Int(parts.tm_year) + 1900, 4))-\(digits(parts.tm_mon + 1, 2))-\(digits(parts.tm_mday, 2))"
        let clock = "\(digits(parts.tm_hour, 2)):\(digits(parts.tm_min, 2)):\(digits(parts.tm_sec, 2))"
        return "\(day)T\(clock).\(digits(time.tv_nsec / 1_000_000, 3))Z"
    }

    private static let wallClock: @Sendable () -> timespec = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return time
    }
}
