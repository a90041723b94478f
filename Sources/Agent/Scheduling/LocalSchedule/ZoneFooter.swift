/// The rule of a zone for later times: a TZ string of POSIX (IEEE 1003.1, 8.3), with the extensions of RFC 8536, 3.3.1.
struct ZoneFooter: Hashable, Sendable {
    /// When the offset changes in a year: the day, and the local time in seconds, -167 to 167 hours.
    struct Rule: Hashable, Sendable {
        enum Day: Hashable, Sendable {
            /// Jn: 1 to 365, without 29 February.
            case withoutLeapDay(Int)
            /// n: 0 to 365, with 29 February.
            case ofYear(Int)
            /// Mm.w.d: month, week (5 is the last one) and weekday (0 is Sunday).
            case inMonth(month: Int, week: Int, weekday: Int)
        }
        var day: Day
        var time: Int64

        /// The local time of the change by the offset before it, in seconds since 1970.
        func local(in year: Int) -> Int64 { Int64(number(in: year)) * GregorianCalendar.secondsPerDay + time }

        private func number(in year: Int) -> Int {
            let newYear = GregorianCalendar.dayNumber(year: year, month: 1, day: 1)
            switch day {
            case .withoutLeapDay(let day):
                return newYear + day - 1 + (GregorianCalendar.isLeap(year) && day >= 60 ? 1 : 0)
            case .ofYear(let day): return newYear + day
            case .inMonth(let month, let week, let weekday):
                let first = GregorianCalendar.dayNumber(year: year, month: month, day: 1)
                var day = (weekday - GregorianCalendar.weekday(ofDay: first) + 7) % 7 + (week - 1) * 7
                while day >= GregorianCalendar.length(ofMonth: month, year: year) { day -= 7 }
                return first + day
            }
        }
    }

    struct Daylight: Hashable, Sendable {
        var offset: Int64
        var begins: Rule
        var ends: Rule
    }

    /// The standard offset in seconds east of UTC.
    var standard: Int64
    var daylight: Daylight?

    /// The offset period of a second.
    func period(at second: Int64) -> ZoneRules.OffsetPeriod {
        guard let daylight else { return ZoneRules.OffsetPeriod(start: .min, end: .max, offset: standard) }
        let year = GregorianCalendar.date(ofDay: Int(second.floorDivided(by: GregorianCalendar.secondsPerDay))).year
        // Changes at the same second count in the order of the years, and the begin of daylight time before its end: so
        // daylight time may last all year.
        var found = ZoneRules.OffsetPeriod(start: .min, end: .max, offset: standard)
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
