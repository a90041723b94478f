extension CalendarPattern {
    /// The first matching local time at or after a local time, both in milliseconds since 1970-01-01T00:00 local time;
    /// `nil` when there is none up to the end of a year.
    func firstTime(from local: Int64, throughYear last: Int) -> Int64? {
        let day = local.floorDivided(by: GregorianCalendar.millisecondsPerDay)
        guard let found = firstDay(from: Int(day), throughYear: last) else { return nil }
        if Int64(found) == day {
            let time = Int(local - day * GregorianCalendar.millisecondsPerDay)
            if let time = timeOfDay(from: time) { return day * GregorianCalendar.millisecondsPerDay + Int64(time) }
            guard let next = firstDay(from: found + 1, throughYear: last) else { return nil }
            return beginning(of: next)
        }
        return beginning(of: found)
    }

    private func beginning(of day: Int) -> Int64? {
        timeOfDay(from: 0).map { Int64(day) * GregorianCalendar.millisecondsPerDay + Int64($0) }
    }

    /// The first matching time of day at or after a time of day, in milliseconds since midnight.
    private func timeOfDay(from start: Int) -> Int? {
        let unit = (3_600_000, 60_000, 1000, 1)
        let hours = timeUnit(hour, .hour, below: .belowHour, of: 24)
        let minutes = timeUnit(minute, .minute, below: [.second, .millisecond], of: 60)
        let seconds = timeUnit(second, .second, below: .millisecond, of: 60)
        let parts = timeUnit(millisecond, .millisecond, below: [], of: 1000)
        for hour in hours.values(from: start / unit.0) {
            let inHour = max(start - hour * unit.0, 0)
            for minute in minutes.values(from: inHour / unit.1) {
                let inMinute = max(inHour - minute * unit.1, 0)
                for second in seconds.values(from: inMinute / unit.2) {
                    let inSecond = max(inMinute - second * unit.2, 0)
                    if let part = parts.values(from: inSecond).first {
                        return hour * unit.0 + minute * unit.1 + second * unit.2 + part
                    }
                }
            }
        }
        return nil
    }

    /// A unit of the time of day: hour, minute, second or millisecond.
    private struct TimeUnit {
        var fixed: Int?
        var count: Int

        func values(from start: Int) -> Range<Int> {
            guard let fixed else { return min(start, count)..<count }
            return fixed >= start ? fixed..<fixed + 1 : 0..<0
        }
    }

    /// A unit that is not given is 0 when no lower unit is given, and else takes every value.
    private func timeUnit(_ value: some BinaryInteger, _ field: Fields, below: Fields, of count: Int) -> TimeUnit {
        if given.contains(field) { return TimeUnit(fixed: Int(value), count: count) }
        return TimeUnit(fixed: given.isDisjoint(with: below) ? 0 : nil, count: count)
    }
}
