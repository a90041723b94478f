import CoreValues

extension CalendarPattern {
    /// How many years ahead a match is searched for, where no year is given.
    package static let yearsAhead = 40

    /// The first match in a zone after an instant; `nil` when there is none.
    ///
    /// - Skipped local times (a gap): a time with a fixed hour (the hour is given, or only fields of days are) matches
    ///   once, at the first instant after the gap. The gap must be shorter than a day, and the instant may be on the
    ///   next day. Other skipped times do not match, and neither do days that do not exist, such as 29 February of most
    ///   years.
    /// - Repeated local times: a time with a fixed hour matches the first time only, other times match both times.
    ///
    /// Searches forty years ahead, further only for a given year, and never past the year 9999. The result is later
    /// than `after`, so that it can be passed as `after` for the following match.
    package func nextFire(in zone: ZoneRules, after: Timestamp) -> Timestamp? {
        guard !isNever, after < Self.last else { return nil }
        var search = FireSearch(pattern: self, zone: zone, start: max(after, Self.earliest).adding(milliseconds: 1))
        return search.run()
    }

    /// The last match in a zone after an instant and up to a limit; `nil` when there is none.
    ///
    /// A binary search: about forty calls of `nextFire`, however many matches there are.
    func lastFire(in zone: ZoneRules, after: Timestamp, through limit: Timestamp) -> Timestamp? {
        guard var found = nextFire(in: zone, after: after), found <= limit else { return nil }
        var none = min(limit, Self.last)
        while found < none {
            let middle = Timestamp(
                rawValue: found.rawValue + (none.rawValue - found.rawValue) / 2)
            if let next = nextFire(in: zone, after: middle), next <= limit { found = next } else { none = middle }
        }
        return found
    }

    /// The beginning of the year 1, and the end of 9999.
    private static let earliest = Timestamp(seconds: -62_135_596_800)
    static let last = Timestamp(seconds: 253_402_300_800)
}

/// A search for the next match, which examines the zone's offset periods in order.
private struct FireSearch {
    let pattern: CalendarPattern
    let zone: ZoneRules
    let lastYear: Int
    /// The earliest instant that may still match, in milliseconds.
    var at: Int64
    var period: ZoneRules.OffsetPeriod
    /// The last search of local times: nothing matches between `from` and `found`; `nil` when nothing matches after
    /// `from`.
    var looked: (from: Int64, found: Int64?)?

    init(pattern: CalendarPattern, zone: ZoneRules, start: Timestamp) {
        self.pattern = pattern
        self.zone = zone
        at = start.rawValue
        period = zone.period(at: at.floorDivided(by: 1000))
        let day = (at + period.offset * 1000).floorDivided(by: GregorianCalendar.millisecondsPerDay)
        lastYear = min(GregorianCalendar.date(ofDay: Int(day)).year + CalendarPattern.yearsAhead, 9999)
    }

    mutating func run() -> Timestamp? {
        while true {
            var from = at + period.offset * 1000
            if pattern.fixesHour, let shown = shownBefore() {
                if isEntry, let missing = match(from: shown.latest), missing < from,
                    from - shown.end < GregorianCalendar.millisecondsPerDay
                {
                    return Timestamp(rawValue: at)
                }
                from = max(from, shown.latest)
            }
            let match = match(from: from)
            if let match, period.end == .max || match < period.localEnd * 1000 {
                return Timestamp(rawValue: match - period.offset * 1000)
            }
            guard period.end != .max else { return nil }
            var next = period.end
            // No later period has local times as early as `from`: periods before the match can be passed over.
            if period.end - ZoneRules.largestOffset - 1 >= from / 1000 {
                guard let match else { return nil }
                next = max(next, match / 1000 - ZoneRules.largestOffset - 1)
            }
            at = next * 1000
            period = zone.period(at: next)
        }
    }

    /// Whether the search is at the first instant of the period, where a gap may end.
    private var isEntry: Bool { period.start != .min && at == period.start * 1000 }

    /// Local times before the period: the latest one, and the one at the end of the period before; `nil` where they are
    /// too long ago to be repeated.
    private func shownBefore() -> (latest: Int64, end: Int64)? {
        guard period.start != .min, at / 1000 - period.start <= ZoneRules.longestRepeat,
            let latest = zone.latestLocalTime(before: period)
        else {
            return nil
        }
        return (latest * 1000, zone.period(at: period.start - 1).localEnd * 1000)
    }

    /// The first matching local time at or after a local time.
    private mutating func match(from: Int64) -> Int64? {
        if let looked, looked.from <= from, looked.found.map({ from <= $0 }) ?? true { return looked.found }
        let found = pattern.firstTime(from: from, throughYear: lastYear)
        looked = (from, found)
        return found
    }
}
