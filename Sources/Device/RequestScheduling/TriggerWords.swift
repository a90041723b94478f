import Foundation

extension Duration {
    /// Such as `1 h 30 min`, to the millisecond.
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
    /// The given fields, such as `hour=9 minute=30`, and a calendar that is not Gregorian.
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
