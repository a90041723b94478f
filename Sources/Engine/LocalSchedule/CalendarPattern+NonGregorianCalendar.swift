extension CalendarPattern {
    /// The first matching day of another calendar at or after one, by its number; `nil` when there is none until the end
    /// of a Gregorian year, or in the year that is given.
    func firstDay(in months: MonthTable, from start: Int, throughYear last: Int) -> Int? {
        var weeks = WeekYear(months)
        for days in days(in: months, from: start, throughYear: last) {
            var day = days.lowerBound
            while day < days.upperBound, case let piece = months.piece(at: day), let end = piece.last?.days.upperBound {
                for stretch in piece where stretch.days.upperBound > day {
                    let found = beginnings(in: stretch, &weeks) & (~0 << UInt64(max(day - stretch.days.lowerBound, 0)))
                    guard found != 0 else { continue }
                    let day = stretch.days.lowerBound + found.trailingZeroBitCount
                    return day < days.upperBound ? day : nil
                }
                guard end > day else { break }
                day = end
            }
        }
        return nil
    }

    /// Whether the fields of another calendar match on a day.
    func matches(day: Int, in months: MonthTable) -> Bool {
        guard let stretch = months.stretch(at: day) else { return false }
        var weeks = WeekYear(months)
        return matching(in: stretch, &weeks) & (1 << UInt64(day - stretch.days.lowerBound)) != 0
    }

    /// Where to look for matching days.
    private func days(in months: MonthTable, from start: Int, throughYear last: Int) -> [Range<Int>] {
        let end = Civil.day(year: last + 1, month: 1, day: 1)
        let whole = start..<max(start, Civil.day(year: 10_000, month: 1, day: 1))
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

    /// The days of a stretch that are meant, bit 0 for the first: all that match, or of a period its first.
    private func beginnings(in stretch: MonthTable.Stretch, _ weeks: inout WeekYear) -> UInt64 {
        let matching = matching(in: stretch, &weeks)
        guard matching != 0, isPeriod else { return matching }
        var beginnings = matching & ~(matching << 1)
        if matching & 1 != 0, matches(day: stretch.days.lowerBound - 1, in: weeks.months) { beginnings &= ~1 }
        return beginnings
    }

    /// The days of a stretch whose fields match, bit 0 for the first.
    private func matching(in stretch: MonthTable.Stretch, _ weeks: inout WeekYear) -> UInt64 {
        guard months & (1 << (UInt16(stretch.month) &- 1)) != 0, !given.contains(.year) || stretch.year == year,
            !given.contains(.era) || stretch.era == era, !given.contains(stretch.isLeap ? .plainMonth : .leapMonth)
        else { return 0 }
        let days = stretch.days
        var mask: UInt64 = ~0 >> UInt64(64 - days.count)
        // The day before the month's first, were it numbered from there on.
        let zero = days.lowerBound - Int(stretch.firstDay)
        if given.contains(.day) { mask &= Self.bits(of: zero + Int(day), count: 1, from: days.lowerBound) }
        if given.contains(.ordinal) {
            mask &= Self.bits(of: zero + 7 * Int(ordinal) - 6, count: 7, from: days.lowerBound)
        }
        if given.contains(.weekday) {
            let first = Civil.weekday(ofDay: days.lowerBound)
            mask &= 0x8_1020_4081 << UInt64((Int(weekday) + 6 - first) % 7)
        }
        if given.contains(.dayOfYear) {
            mask &= Self.bits(of: Int(stretch.yearFirst) + Int(dayOfYear) - 1, count: 1, from: days.lowerBound)
        }
        if given.contains(.weekOfMonth) {
            let week = weekOne(from: zero + 1) + 7 * (Int(weekOfMonth) - 1)
            mask &= Self.bits(of: week, count: 7, from: days.lowerBound)
        }
        guard mask != 0, !given.isDisjoint(with: [.weekOfYear, .weekYear]) else { return mask }
        return mask & weeksOfYear(of: stretch, &weeks)
    }

    /// The days of a stretch that lie in the given week, or year of weeks, or both.
    private func weeksOfYear(of stretch: MonthTable.Stretch, _ weeks: inout WeekYear) -> UInt64 {
        weeks.turn(to: stretch, of: self)
        var mask: UInt64 = 0
        for (index, week) in weeks.ones.enumerated() {
            let number = Int(stretch.number) + index - 1
            // Where the year after the next begins does not matter to this stretch, if only that is late enough.
            let next = index + 1 < weeks.ones.count ? weeks.ones[index + 1] : week + 400
            guard !given.contains(.weekYear) || number == Int(weekYear) else { continue }
            let first = given.contains(.weekOfYear) ? week + 7 * (Int(weekOfYear) - 1) : week
            guard first < next else { continue }
            let count = given.contains(.weekOfYear) ? 7 : next - first
            mask |= Self.bits(of: first, count: count, from: stretch.days.lowerBound)
        }
        return mask
    }

    /// The first day of the first week of a month or year, by its own first day.
    private func weekOne(from first: Int) -> Int {
        let before = (Civil.weekday(ofDay: first) + 7 - Int(weeks.first)) % 7
        return first - before + (7 - before >= Int(weeks.minimumDays) ? 0 : 7)
    }

    /// Days in a row as bits, bit 0 for the given one.
    private static func bits(of day: Int, count: Int, from first: Int) -> UInt64 {
        let low = min(max(day - first, 0), 63)
        let high = min(max(day + count - first, 0), 63)
        return (1 << UInt64(high)) - (1 << UInt64(low))
    }

    /// Where the weeks of a year, of the one before and of the next begin; kept from one month to the next.
    private struct WeekYear {
        let months: MonthTable
        var yearFirst: Int32?
        var ones: [Int] = []

        init(_ months: MonthTable) { self.months = months }

        mutating func turn(to stretch: MonthTable.Stretch, of pattern: CalendarPattern) {
            guard yearFirst != stretch.yearFirst else { return }
            yearFirst = stretch.yearFirst
            let first = Int(stretch.yearFirst)
            ones = [months.yearFirst(of: first - 1) ?? first, first, months.nextYear(after: first)].map {
                pattern.weekOne(from: $0)
            }
        }
    }
}
