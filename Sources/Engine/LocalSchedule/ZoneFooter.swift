/// How a zone goes on by rule: the TZ string of POSIX (IEEE 1003.1, 8.3), with the extensions of RFC 8536 3.3.1.
struct ZoneFooter: Hashable, Sendable {
    /// On which day of a year clocks change, and at which time of the day, in seconds; -167 to 167 hours.
    struct Rule: Hashable, Sendable {
        enum Day: Hashable, Sendable {
            /// 1 to 365; 29 February is not counted.
            case withoutLeapDay(Int)
            /// 0 to 365.
            case ofYear(Int)
            /// Month, week (5: the last) and day of the week (0: Sunday).
            case inMonth(month: Int, week: Int, weekday: Int)
        }
        var day: Day
        var time: Int64

        /// The change in local time: seconds since 1970 of the clocks before it.
        func local(in year: Int) -> Int64 { Int64(number(in: year)) * Civil.secondsPerDay + time }

        private func number(in year: Int) -> Int {
            let newYear = Civil.day(year: year, month: 1, day: 1)
            switch day {
            case .withoutLeapDay(let day): return newYear + day - 1 + (Civil.isLeap(year) && day >= 60 ? 1 : 0)
            case .ofYear(let day): return newYear + day
            case .inMonth(let month, let week, let weekday):
                let first = Civil.day(year: year, month: month, day: 1)
                var day = (weekday - Civil.weekday(ofDay: first) + 7) % 7 + (week - 1) * 7
                while day >= Civil.length(ofMonth: month, year: year) { day -= 7 }
                return first + day
            }
        }
    }

    struct Daylight: Hashable, Sendable {
        var offset: Int64
        var begins: Rule
        var ends: Rule
    }

    /// Seconds east of UTC.
    var standard: Int64
    var daylight: Daylight?

    /// The stretch of one offset within which a second lies.
    func span(at second: Int64) -> ZoneRules.Span {
        guard let daylight else { return ZoneRules.Span(start: .min, end: .max, offset: standard) }
        let year = Civil.date(ofDay: Int(second.floorDivided(by: Civil.secondsPerDay))).year
        // Changes at the same second are taken in the order of their years, the beginning before the end, so that
        // daylight time that lasts all year does.
        var found = ZoneRules.Span(start: .min, end: .max, offset: standard)
        for year in (year - 2)...(year + 2) {
            let begins = daylight.begins.local(in: year) - standard
            let ends = daylight.ends.local(in: year) - daylight.offset
            for (time, offset) in [(begins, daylight.offset), (ends, standard)] {
                if time > second {
                    found.end = Swift.min(found.end, time)
                } else if time >= found.start {
                    found.start = time
                    found.offset = offset
                }
            }
        }
        return found
    }
}
