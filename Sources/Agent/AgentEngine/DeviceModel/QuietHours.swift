import Glibc
import PushCore

/// A span of every day in which only what is time-sensitive or critical appears; it may pass midnight.
package struct QuietHours: Hashable, Sendable {
    /// The name under which a person sets them, for all apps.
    package static let name = "quiet-hours"

    /// Minutes since midnight.
    package let from: Int
    /// The end in minutes since midnight, 0 to 1,439; the first minute outside.
    package let to: Int

    /// Reads `22:00-07:00`; `nil` for another text, and for a span without length.
    package init?(text: String) {
        let times = text.split(separator: "-", omittingEmptySubsequences: false).map(Self.minutes)
        guard times.count == 2, let from = times[0], let to = times[1], from != to else { return nil }
        self.from = from
        self.to = to
    }

    /// The form that ``init(text:)`` reads, such as `22:00-07:00`.
    package var text: String { "\(Self.text(from))-\(Self.text(to))" }

    /// Whether a minute of the day is within the quiet hours; the end is not.
    package func contains(minute: Int) -> Bool {
        from < to ? (from..<to).contains(minute) : minute >= from || minute < to
    }

    /// Whether an instant is within the quiet hours, by this machine's wall clock.
    package func contains(_ instant: Timestamp) -> Bool {
        var seconds = time_t(instant.rawValue / 1000)
        var local = tm()
        guard localtime_r(&seconds, &local) != nil else { return false }
        return contains(minute: Int(local.tm_hour) * 60 + Int(local.tm_min))
    }

    private static func minutes(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.count == 2 }), let hours = Int(parts[0]),
            let minutes = Int(parts[1]), (0..<24).contains(hours), (0..<60).contains(minutes)
        else { return nil }
        return hours * 60 + minutes
    }

    private static func text(_ minutes: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(minutes / 60)):\(two(minutes % 60))"
    }
}
