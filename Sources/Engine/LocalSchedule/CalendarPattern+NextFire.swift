extension CalendarPattern {
    /// How far ahead a matching moment is looked for, in years, where the fields name no year.
    public static let yearsAhead = 40

    /// The first instant after another at which the fields match in a zone; `nil` when there is none.
    ///
    /// - What clocks skip: a time whose hour is certain (it is given, or the fields are those of days alone) counts once, with
    ///   the first instant after the gap, if the gap is shorter than a day; that may be of the next day. Other times are
    ///   passed over, and so are days that are not there, such as 29 February of most years.
    /// - What clocks repeat: a time whose hour is certain counts the first time only, another one both times.
    ///
    /// Looks forty years ahead, further only for a year that is given; never past the year 9999. The result is later
    /// than `after`, so that asking again with it goes on.
    public func nextFire(in zone: ZoneRules, after: Instant) -> Instant? {
        guard !isNever, after < Self.last else { return nil }
        var search = FireSearch(pattern: self, zone: zone, start: max(after, Self.earliest).advanced(by: 1))
        return search.run()
    }

    /// The last instant up to a limit at which the fields match after another; `nil` when there is none.
    ///
    /// Asks for the next one about forty times, whatever lies between.
    func lastFire(in zone: ZoneRules, after: Instant, through limit: Instant) -> Instant? {
        guard var found = nextFire(in: zone, after: after), found <= limit else { return nil }
        var none = min(limit, Self.last)
        while found < none {
            let middle = Instant(
                milliseconds: found.milliseconds + (none.milliseconds - found.milliseconds) / 2)
            if let next = nextFire(in: zone, after: middle), next <= limit { found = next } else { none = middle }
        }
        return found
    }

    /// The beginning of the year 1, and the end of 9999.
    private static let earliest = Instant(seconds: -62_135_596_800)
    static let last = Instant(seconds: 253_402_300_800)
}

/// One search for the next instant: goes from one stretch of a constant offset to the next.
private struct FireSearch {
    let pattern: CalendarPattern
    let zone: ZoneRules
    let lastYear: Int
    /// The earliest instant that may still be the answer, in milliseconds.
    var at: Int64
    var span: ZoneRules.Span
    /// What the last look at local times found: nothing matches from the one to the other; `nil` for never.
    var looked: (from: Int64, found: Int64?)?

    init(pattern: CalendarPattern, zone: ZoneRules, start: Instant) {
        self.pattern = pattern
        self.zone = zone
        at = start.milliseconds
        span = zone.span(at: at.floorDivided(by: 1000))
        let day = (at + span.offset * 1000).floorDivided(by: Civil.millisecondsPerDay)
        lastYear = min(Civil.date(ofDay: Int(day)).year + CalendarPattern.yearsAhead, 9999)
    }

    mutating func run() -> Instant? {
        while true {
            var from = at + span.offset * 1000
            if pattern.fixesHour, let shown = shownBefore() {
                if isEntry, let missing = match(from: shown.latest), missing < from,
                    from - shown.end < Civil.millisecondsPerDay
                {
                    return Instant(milliseconds: at)
                }
                from = max(from, shown.latest)
            }
            let match = match(from: from)
            if let match, span.end == .max || match < span.localEnd * 1000 {
                return Instant(milliseconds: match - span.offset * 1000)
            }
            guard span.end != .max else { return nil }
            var next = span.end
            // No later stretch begins as early, by its clocks, as this look did: what lies before the match is done with.
            if span.end - ZoneRules.largestOffset - 1 >= from / 1000 {
                guard let match else { return nil }
                next = max(next, match / 1000 - ZoneRules.largestOffset - 1)
            }
            at = next * 1000
            span = zone.span(at: next)
        }
    }

    /// Whether the search is at the beginning of the stretch, after what clocks may have skipped.
    private var isEntry: Bool { span.start != .min && at == span.start * 1000 }

    /// What clocks had shown before the stretch: the latest of it, and what they showed at its end; `nil` when that does
    /// not matter here any more.
    private func shownBefore() -> (latest: Int64, end: Int64)? {
        guard span.start != .min, at / 1000 - span.start <= ZoneRules.widest, let latest = zone.shown(before: span)
        else {
            return nil
        }
        return (latest * 1000, zone.span(at: span.start - 1).localEnd * 1000)
    }

    /// The first matching local time at or after one.
    private mutating func match(from: Int64) -> Int64? {
        if let looked, looked.from <= from, looked.found.map({ from <= $0 }) ?? true { return looked.found }
        let found = pattern.firstTime(from: from, throughYear: lastYear)
        looked = (from, found)
        return found
    }
}
