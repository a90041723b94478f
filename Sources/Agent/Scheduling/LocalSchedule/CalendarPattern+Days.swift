extension CalendarPattern {
    /// The number of the first matching day at or after a day; `nil` when there is none up to the end of a year.
    func firstDay(from start: Int, throughYear last: Int) -> Int? {
        if let monthTable { return firstDay(in: monthTable, from: start, throughYear: last) }
        var (year, month, day) = GregorianCalendar.date(ofDay: start)
        var last = last
        if given.contains(.year) {
            guard year <= Int(self.year) else { return nil }
            if year < Int(self.year) { (year, month, day) = (Int(self.year), 1, 1) }
            last = Int(self.year)
        }
        if given.contains(.weekYear) {
            if year < Int(weekYear) - 1 { (year, month, day) = (Int(weekYear) - 1, 1, 1) }
            last = given.contains(.year) ? last : Int(weekYear) + 1
        }
        while year <= last {
            let rest = Int(months) >> (month - 1)
            guard rest != 0 else {
                (year, month, day) = (year + 1, 1, 1)
                continue
            }
            if rest & 1 == 0 { (month, day) = (month + rest.trailingZeroBitCount, 1) }
            let found = beginnings(year: year, month: month) & (~0 << UInt32(day - 1))
            if found != 0 {
                return GregorianCalendar.dayNumber(year: year, month: month, day: 1) + found.trailingZeroBitCount
            }
            (month, day) = (month + 1, 1)
        }
        return nil
    }

    /// Whether the fields match on a day.
    func matches(day number: Int) -> Bool {
        if let monthTable { return matches(day: number, in: monthTable) }
        let (year, month, day) = GregorianCalendar.date(ofDay: number)
        return days(year: year, month: month) & (1 << UInt32(day - 1)) != 0
    }

    /// The days of a month to fire on, bit 0 for the first: all matching days, or the first one of a matching period.
    private func beginnings(year: Int, month: Int) -> UInt32 {
        let matching = days(year: year, month: month)
        guard matching != 0, isPeriod else { return matching }
        var beginnings = matching & ~(matching << 1)
        if matching & 1 != 0, matches(day: GregorianCalendar.dayNumber(year: year, month: month, day: 1) - 1) {
            beginnings &= ~1
        }
        return beginnings
    }

    /// The matching days of a month, bit 0 for the first.
    private func days(year: Int, month: Int) -> UInt32 {
        guard months & (1 << (month - 1)) != 0, !given.contains(.year) || year == Int(self.year) else { return 0 }
        var mask = UInt32.max >> UInt32(32 - GregorianCalendar.length(ofMonth: month, year: year))
        if given.contains(.day) { mask &= 1 << UInt32(day - 1) }
        if given.contains(.ordinal) { mask &= 0x7F << UInt32(7 * (ordinal - 1)) }
        guard mask != 0, !given.isDisjoint(with: [.weekday, .weekOfMonth, .weekOfYear, .weekYear, .dayOfYear]) else {
            return mask
        }
        let first = GregorianCalendar.dayNumber(year: year, month: month, day: 1)
        let firstWeekday = GregorianCalendar.weekday(ofDay: first)
        if given.contains(.weekday) { mask &= 0x1020_4081 << UInt32((Int(weekday) + 6 - firstWeekday) % 7) }
        if given.contains(.weekOfMonth) { mask &= week(ofMonthBeginningOn: firstWeekday) }
        if given.contains(.dayOfYear) {
            let day = GregorianCalendar.dayNumber(year: year, month: 1, day: 1) + Int(dayOfYear) - 1
            mask &= Self.bits(of: day..<day + 1, from: first)
        }
        guard mask != 0, !given.isDisjoint(with: [.weekOfYear, .weekYear]) else { return mask }
        return mask & weeksOfYear(around: year, from: first)
    }

    /// The days of the month in the given week of the month.
    private func week(ofMonthBeginningOn weekday: Int) -> UInt32 {
        let before = (weekday + 7 - Int(weeks.first)) % 7
        let isFirst = 7 - before >= Int(weeks.minimumDays)
        let index = Int(weekOfMonth) - (isFirst ? 1 : 0)
        guard index >= 0 else { return 0 }
        return UInt32(truncatingIfNeeded: (UInt64(0x7F) << UInt64(7 * index)) >> UInt64(before))
    }

    /// The days from a day on that are in the given week of the year, in the given year of weeks, or both.
    private func weeksOfYear(around year: Int, from first: Int) -> UInt32 {
        var mask: UInt32 = 0
        let years = given.contains(.weekYear) ? Int(weekYear)...Int(weekYear) : year - 1...year + 1
        for year in years {
            let start = weekOne(of: year)
            let end = weekOne(of: year + 1)
            if given.contains(.weekOfYear) {
                let week = start + 7 * (Int(weekOfYear) - 1)
                if week < end { mask |= Self.bits(of: week..<week + 7, from: first) }
            } else {
                mask |= Self.bits(of: start..<end, from: first)
            }
        }
        return mask
    }

    /// The first day of the first week of a year.
    private func weekOne(of year: Int) -> Int {
        let newYear = GregorianCalendar.dayNumber(year: year, month: 1, day: 1)
        let before = (GregorianCalendar.weekday(ofDay: newYear) + 7 - Int(weeks.first)) % 7
        return newYear - before + (7 - before >= Int(weeks.minimumDays) ? 0 : 7)
    }

    /// A range of days as bits, bit 0 for the day `first`.
    private static func bits(of days: Range<Int>, from first: Int) -> UInt32 {
        let low = min(max(days.lowerBound - first, 0), 32)
        let high = min(max(days.upperBound - first, 0), 32)
        return UInt32(truncatingIfNeeded: (UInt64(1) << UInt64(high)) - (UInt64(1) << UInt64(low)))
    }
}
