#if DEBUG
    import CoreValues
    import Foundation

    @testable import Scheduling

    /// Whether fields match at a moment, by what Foundation says of it.
    struct PatternCheck {
        private static let components: Set<Calendar.Component> = [
            .era, .year, .month, .isLeapMonth, .day, .weekday, .weekdayOrdinal, .weekOfMonth, .weekOfYear,
            .yearForWeekOfYear, .dayOfYear, .hour, .minute, .second,
        ]

        /// Whether the rules count a time of clocks as Foundation does: earlier its Gregorian calendar is the Julian one, or another
        /// era counts than the one that is meant.
        static func isKnown(_ local: Timestamp, in calendar: Calendar) -> Bool {
            let first =
                switch calendar.identifier {
                case .japanese: GregorianCalendar.dayNumber(year: 2019, month: 5, day: 1)
                case .republicOfChina: GregorianCalendar.dayNumber(year: 1912, month: 1, day: 1)
                default: GregorianCalendar.dayNumber(year: 1583, month: 1, day: 1)
                }
            let day = Int(local.rawValue.floorDivided(by: GregorianCalendar.millisecondsPerDay))
            return (first..<GregorianCalendar.dayNumber(year: 9999, month: 1, day: 1)).contains(day)
        }

        private let fields: DateComponents
        private let calendar: Calendar

        init(_ fields: DateComponents) {
            self.fields = fields
            let given = fields.calendar ?? Calendar(identifier: .gregorian)
            // By the rules weeks that cannot be begin on Sunday, and so do those of no calendar.
            let hasWeeks =
                fields.calendar != nil && (1...7).contains(given.firstWeekday)
                && (1...7).contains(given.minimumDaysInFirstWeek)
            var calendar = Calendar(identifier: given.identifier)
            calendar.firstWeekday = hasWeeks ? given.firstWeekday : 1
            calendar.minimumDaysInFirstWeek = hasWeeks ? given.minimumDaysInFirstWeek : 1
            calendar.timeZone = .gmt
            self.calendar = calendar
        }

        /// Whether all fields match, or the moment is the first after a gap in which they do.
        func holds(at moment: Timestamp, in zone: ZoneRules, _ pattern: CalendarPattern) -> Bool {
            let local = moment.adding(milliseconds: Int64(zone.offset(at: moment)) * 1000)
            guard Self.isKnown(local, in: calendar) else { return true }
            if match(local) { return !pattern.fixesHour || !Self.isRepeated(moment, in: zone) }
            let before = moment.adding(milliseconds: Int64(zone.offset(at: moment.adding(milliseconds: -1))) * 1000 - 1)
            guard pattern.fixesHour, let skipped = pattern.nextFire(in: .utc, after: before) else { return false }
            return skipped < local
        }

        /// Whether clocks had shown the same, or later, before they were last set.
        static func isRepeated(_ moment: Timestamp, in zone: ZoneRules) -> Bool {
            let period = zone.period(at: moment.rawValue.floorDivided(by: 1000))
            let local = moment.rawValue.saturatingSum(period.offset * 1000)
            return zone.latestLocalTime(before: period).map { local < $0 * 1000 } ?? false
        }

        /// What a calendar shows of a time of UTC.
        static func shown(_ moment: Timestamp, in calendar: Calendar) -> DateComponents {
            var shown = calendar.dateComponents(components, from: moment.date)
            shown.nanosecond = Int(moment.rawValue.rest(dividedBy: 1000)) * 1_000_000
            return shown
        }

        private func match(_ local: Timestamp) -> Bool {
            let shown = Self.shown(local, in: calendar)
            let isDay = PatternInput.dayFields.allSatisfy {
                fields[keyPath: $0] == nil || fields[keyPath: $0] == shown[keyPath: $0]
            }
            guard isDay, isMonth(shown) else { return false }
            var isBelow = true
            for field in PatternInput.timeFields.reversed() {
                guard let given = fields[keyPath: field] else {
                    // What is not given counts where it is below all that is given.
                    if isBelow, shown[keyPath: field] != 0 { return false }
                    continue
                }
                isBelow = false
                let unit = field == \.nanosecond ? 1_000_000 : 1
                if (shown[keyPath: field] ?? 0) / unit != given / unit { return false }
            }
            return true
        }

        private func isMonth(_ shown: DateComponents) -> Bool {
            if let quarter = fields.quarter, quarter != min(((shown.month ?? 0) + 2) / 3, 4) { return false }
            guard let isLeap = fields.isLeapMonth ?? (fields.month == nil ? nil : false) else { return true }
            return isLeap == (shown.isLeapMonth ?? false)
        }
    }

    extension Int64 {
        /// What is left of a division that is rounded down.
        func rest(dividedBy divisor: Int64) -> Int64 { self - floorDivided(by: divisor) * divisor }
    }
#endif
