import AldabaTestSupport
import Foundation
import Scheduling

/// What Foundation says of each day of a calendar, for fifty years, and the first day on which fields match by that.
struct CalendarOracle {
    typealias Field = WritableKeyPath<DateComponents, Int?> & Sendable

    /// The fields of days that are compared, quarters apart: Foundation calls them all 0.
    static let dayFields: [any Field] = [
        \.era, \.year, \.month, \.day, \.dayOfYear, \.weekday, \.weekdayOrdinal, \.weekOfMonth, \.weekOfYear,
        \.yearForWeekOfYear,
    ]
    private static let components: Set<Calendar.Component> = [
        .era, .year, .month, .isLeapMonth, .day, .dayOfYear, .weekday, .weekdayOrdinal, .weekOfMonth, .weekOfYear,
        .yearForWeekOfYear,
    ]
    /// 2024-01-01.
    static let first = 19_723
    private static let day: Double = 86_400

    let calendar: Calendar
    private let days: [DateComponents]

    init(_ identifier: Calendar.Identifier, firstWeekday: Int, minimumDays: Int, count: Int = 18_000) {
        var calendar = Calendar(identifier: identifier)
        calendar.timeZone = .gmt
        calendar.firstWeekday = firstWeekday
        calendar.minimumDaysInFirstWeek = minimumDays
        self.calendar = calendar
        days = (Self.first..<Self.first + count).map {
            calendar.dateComponents(Self.components, from: Date(timeIntervalSince1970: Double($0) * Self.day))
        }
    }

    /// Some fields that a day of the first forty years has, one or two of them changed at times, and a time.
    func question(by random: inout SeededGenerator) -> DateComponents {
        let shown = days[Int.random(in: 0..<15_000, using: &random)]
        var fields = DateComponents(calendar: calendar)
        for path in Self.dayFields.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random)) {
            fields[keyPath: path] = shown[keyPath: path]
            if Int.random(in: 0..<12, using: &random) == 0 {
                fields[keyPath: path]? += Int.random(in: -2...2, using: &random)
            }
        }
        if Int.random(in: 0..<8, using: &random) == 0 { fields.quarter = Int.random(in: 1...4, using: &random) }
        if Int.random(in: 0..<5, using: &random) == 0 { fields.isLeapMonth = shown.isLeapMonth }
        if Bool.random(using: &random) { fields.hour = Int.random(in: 0...23, using: &random) }
        return fields
    }

    /// When fields match first after a day's end; `nil` when they do not in the years that are known.
    func next(_ fields: DateComponents, afterDay start: Int) -> Date? {
        let isPeriod = [fields.day, fields.weekday, fields.dayOfYear, fields.hour].allSatisfy { $0 == nil }
        let found = (start + 1..<Self.first + days.count).first {
            matches(fields, on: $0) && !(isPeriod && matches(fields, on: $0 - 1))
        }
        return found.map {
            Date(timeIntervalSince1970: Double($0) * Self.day + Double((fields.hour ?? 0) * 3600))
        }
    }

    private func matches(_ fields: DateComponents, on number: Int) -> Bool {
        let day = days[number - Self.first]
        guard Self.dayFields.allSatisfy({ fields[keyPath: $0] == nil || fields[keyPath: $0] == day[keyPath: $0] })
        else { return false }
        if let quarter = fields.quarter, quarter != min(((day.month ?? 1) + 2) / 3, 4) { return false }
        let isLeap = fields.isLeapMonth ?? (fields.month == nil ? day.isLeapMonth : false)
        return isLeap == day.isLeapMonth
    }

    /// Whether all fields match at a time by what Foundation itself says of it.
    func holds(_ fields: DateComponents, at date: Date) -> Bool {
        let day = calendar.dateComponents(Self.components.union([.hour, .minute, .second]), from: date)
        return matches(fields, on: Int(date.timeIntervalSince1970 / Self.day)) && day.hour == fields.hour ?? 0
            && day.minute == 0 && day.second == 0
    }

    /// What Foundation's own search finds.
    func search(_ fields: DateComponents, after date: Date) -> Date? {
        var fields = fields
        fields.calendar = nil
        return calendar.nextDate(after: date, matching: fields, matchingPolicy: .strict)
    }
}
