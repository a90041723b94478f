import Foundation

/// Fields of a calendar whose months are not Gregorian; Foundation finds where they match.
///
/// Local times are told to Foundation as if they were UTC, so that the rules for what clocks skip and repeat stay ours.
final class ForeignPattern: Hashable, Sendable {
    let calendar: Calendar
    let fields: DateComponents

    /// `nil` when there is no field that counts, or one that no calendar has.
    init?(_ components: DateComponents) {
        guard var calendar = components.calendar else { return nil }
        calendar.timeZone = .gmt
        var fields = components
        fields.calendar = nil
        fields.timeZone = nil
        fields.nanosecond = nil
        guard fields != DateComponents(), Self.isInRange(fields) else { return nil }
        self.calendar = calendar
        self.fields = fields
    }

    /// Foundation's sums are not tried with numbers that no calendar has.
    private static func isInRange(_ fields: DateComponents) -> Bool {
        let ranges: [(Int?, ClosedRange<Int>)] = [
            (fields.era, 0...1000), (fields.year, 0...12_000), (fields.yearForWeekOfYear, 0...12_000),
            (fields.quarter, 1...4), (fields.month, 1...13), (fields.day, 1...32), (fields.dayOfYear, 1...400),
            (fields.weekday, 1...7), (fields.weekdayOrdinal, 1...5), (fields.weekOfMonth, 0...6),
            (fields.weekOfYear, 1...60), (fields.hour, 0...23), (fields.minute, 0...59), (fields.second, 0...59),
        ]
        return ranges.allSatisfy { value, range in value.map(range.contains) ?? true }
    }

    static func == (left: ForeignPattern, right: ForeignPattern) -> Bool {
        left === right || left.fields == right.fields && left.calendar == right.calendar
    }

    func hash(into hasher: inout Hasher) { hasher.combine(fields) }

    /// The first matching local time at or after one; `nil` when Foundation finds none in one call.
    func firstTime(from local: Int64) -> Int64? {
        // All of them are whole seconds, and Foundation looks for later ones only.
        let second = (local.saturatingSum(999)).floorDivided(by: 1000)
        let before = Date(timeIntervalSince1970: Double(second) - 0.5)
        guard let found = calendar.nextDate(after: before, matching: fields, matchingPolicy: .strict) else {
            return nil
        }
        let time = found.timeIntervalSince1970.rounded()
        guard time >= Double(second), Int64(exactly: time).map({ Instant(seconds: $0) < CalendarPattern.last }) == true
        else { return nil }
        return Int64(time) * 1000
    }

    /// Whether a local time lies on a day whose fields match.
    func matchesDay(of local: Int64) -> Bool {
        let days: Set<Calendar.Component> = [
            .era, .year, .month, .day, .weekday, .weekdayOrdinal, .quarter, .weekOfMonth, .weekOfYear,
            .yearForWeekOfYear, .dayOfYear,
        ]
        let found = calendar.dateComponents(days, from: Instant(milliseconds: local).date)
        return days.allSatisfy { component in
            fields.value(for: component).map { $0 == found.value(for: component) } ?? true
        }
    }
}
