import Foundation

extension Duration {
    /// The duration as text, such as `1 h 30 min`, to the millisecond; `0 s` for less than one and for a negative one.
    package var words: String {
        let units: [(name: String, milliseconds: Int64)] = [
            ("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1),
        ]
        var rest = max(0, milliseconds)
        var words: [String] = []
        for unit in units where rest >= unit.milliseconds {
            words.append("\(rest / unit.milliseconds) \(unit.name)")
            rest %= unit.milliseconds
        }
        return words.isEmpty ? "0 s" : words.joined(separator: " ")
    }
}

extension DateComponents {
    /// The fields that are set, such as `hour=9 minute=30`, and the calendar where it is not the Gregorian one.
    package var words: String {
        let fields: [(name: String, value: Int?)] = [
            ("era", era), ("year", year), ("month", month), ("day", day), ("hour", hour), ("minute", minute),
            ("second", second), ("nanosecond", nanosecond), ("weekday", weekday), ("weekdayOrdinal", weekdayOrdinal),
            ("quarter", quarter), ("weekOfMonth", weekOfMonth), ("weekOfYear", weekOfYear),
            ("yearForWeekOfYear", yearForWeekOfYear), ("dayOfYear", dayOfYear),
        ]
        var words = fields.compactMap { field in field.value.map { "\(field.name)=\($0)" } }
        if let isLeapMonth { words.append("isLeapMonth=\(isLeapMonth ? 1 : 0)") }
        if let calendar, calendar.identifier != .gregorian { words.append("of the calendar \(calendar.identifier)") }
        return words.joined(separator: " ")
    }
}
