extension CalendarPattern {
    /// The number of the first matching day at or after a day; `nil` when there is none up to the end of a Gregorian
    /// year, or in the given year.
    func firstDay(in months: MonthTable, from start: Int, throughYear last: Int) -> Int? {
        var weeks = WeekYear(months)
        for days in days(in: months, from: start, throughYear: last) {
            var day = days.lowerBound
            while day < days.upperBound, case let block = months.block(at: day), let end = block.last?.days.upperBound {
                for segment in block where segment.days.upperBound > day {
                    let found = beginnings(in: segment, &weeks) & (~0 << UInt64(max(day - segment.days.lowerBound, 0)))
                    guard found != 0 else { continue }
                    let day = segment.days.lowerBound + found.trailingZeroBitCount
                    return day < days.upperBound ? day : nil
                }
                guard end > day else { break }
                day = end
            }
        }
        return nil
    }

    /// Whether the fields match on a day.
    func matches(day: Int, in months: MonthTable) -> Bool {
        guard let segment = months.segment(at: day) else { return false }
        var weeks = WeekYear(months)
        return matching(in: segment, &weeks) & (1 << UInt64(day - segment.days.lowerBound)) != 0
    }

    /// The ranges of days to search.
    private func days(in months: MonthTable, from start: Int, throughYear last: Int) -> [Range<Int>] {
        let end = GregorianCalendar.dayNumber(year: last + 1, month: 1, day: 1)
        let whole = start..<max(start, GregorianCalendar.dayNumber(year: 10_000, month: 1, day: 1))
        if given.contains(.year) {
            let era = given.contains(.era) ? Int(era) : nil
            return months.numbers(ofYear: Int(year), era: era, from: start).map {
                months.days(ofYear: $0).clamped(to: whole)
            }
        }
        if given.contains(.weekYear) {
            let days = months.days(ofYear: Int(weekYear))
            return [(days.lowerBound - 7..<days.upperBound + 7).clamped(to: whole)]
        }
        return [start..<max(start, end)]
    }

    /// The days of a segment to fire on, bit 0 for the first: all matching days, or the first one of a matching period.
    private func beginnings(in segment: MonthTable.Segment, _ weeks: inout WeekYear) -> UInt64 {
        let matching = matching(in: segment, &weeks)
        guard matching != 0, isPeriod else { return matching }
        var beginnings = matching & ~(matching << 1)
        if matching & 1 != 0, matches(day: segment.days.lowerBound - 1, in: weeks.months) { beginnings &= ~1 }
        return beginnings
    }

    /// The matching days of a segment, bit 0 for the first.
    private func matching(in segment: MonthTable.Segment, _ weeks: inout WeekYear) -> UInt64 {
        guard months & (1 << (UInt16(segment.month) &- 1)) != 0, !given.contains(.year) || segment.year == year,
            !given.contains(.era) || segment.era == era, !given.contains(segment.isLeap ? .plainMonth : .leapMonth)
        else { return 0 }
        let days = segment.days
        var mask: UInt64 = ~0 >> UInt64(64 - days.count)
        // The day number of "day 0" of the month.
        let zero = days.lowerBound - Int(segment.firstDay)
        if given.contains(.day) { mask &= Self.bits(of: zero + Int(day), count: 1, from: days.lowerBound) }
        if given.contains(.ordinal) {
            mask &= Self.bits(of: zero + 7 * Int(ordinal) - 6, count: 7, from: days.lowerBound)
        }
        if given.contains(.weekday) {
            let first = GregorianCalendar.weekday(ofDay: days.lowerBound)
            mask &= 0x8_1020_4081 << UInt64((Int(weekday) + 6 - first) % 7)
        }
        if given.contains(.dayOfYear) {
            mask &= Self.bits(of: Int(segment.yearFirst) + Int(dayOfYear) - 1, count: 1, from: days.lowerBound)
        }
        if given.contains(.weekOfMonth) {
            let week = weekOne(from: zero + 1) + 7 * (Int(weekOfMonth) - 1)
            mask &= Self.bits(of: week, count: 7, from: days.lowerBound)
        }
        guard mask != 0, !given.isDisjoint(with: [.weekOfYear, .weekYear]) else { return mask }
        return mask & weeksOfYear(of: segment, &weeks)
    }

    /// The days of a segment in the given week of the year, in the given year of weeks, or both.
    private func weeksOfYear(of segment: MonthTable.Segment, _ weeks: inout WeekYear) -> UInt64 {
        weeks.move(to: segment, of: self)
        var mask: UInt64 = 0
        for (index, week) in weeks.ones.enumerated() {
            let number = Int(segment.number) + index - 1
            // The last of these years ends after this segment: any end that is late enough will do.
            let next = index + 1 < weeks.ones.count ? weeks.ones[index + 1] : week + 400
            guard !given.contains(.weekYear) || number == Int(weekYear) else { continue }
            let first = given.contains(.weekOfYear) ? week + 7 * (Int(weekOfYear) - 1) : week
            guard first < next else { continue }
            let count = given.contains(.weekOfYear) ? 7 : next - first
            mask |= Self.bits(of: first, count: count, from: segment.days.lowerBound)
        }
        return mask
    }

    /// The first day of the first week of a month or year that begins with a day.
    private func weekOne(from first: Int) -> Int {
        let before = (GregorianCalendar.weekday(ofDay: first) + 7 - Int(weeks.first)) % 7
        return first - before + (7 - before >= Int(weeks.minimumDays) ? 0 : 7)
    }

    /// A range of days as bits, bit 0 for the day `first`.
    private static func bits(of day: Int, count: Int, from first: Int) -> UInt64 {
        let low = min(max(day - first, 0), 63)
        let high = min(max(day + count - first, 0), 63)
        return (1 << UInt64(high)) - (1 << UInt64(low))
    }

    /// The first days of the weeks "1" of three years: the year of a segment, the one before and the one after.
    private struct WeekYear {
        let months: MonthTable
        var yearFirst: Int32?
        var ones: [Int] = []

        init(_ months: MonthTable) { self.months = months }

        mutating func move(to segment: MonthTable.Segment, of pattern: CalendarPattern) {
            guard yearFirst != segment.yearFirst else { return }
            yearFirst = segment.yearFirst
            let first = Int(segment.yearFirst)
            ones = [months.yearFirst(of: first - 1) ?? first, first, months.nextYear(after: first)].map {
                pattern.weekOne(from: $0)
            }
        }
    }
}
