import CoreValues

/// When a local time is, in one zone.
package enum LocalTimeMatch: Hashable, Sendable {
    /// Once, as nearly always.
    case once(Timestamp)
    /// Never: clocks are set over it. The gap ends at `end`; `shifted` is as far behind its end as the local time is
    /// behind its beginning.
    case skipped(end: Timestamp, shifted: Timestamp)
    /// Twice: clocks are set back to before it.
    case twice(first: Timestamp, second: Timestamp)
}

extension ZoneRules {
    /// When it is that local time here.
    ///
    /// - Parameter local: The local time as seconds since 1970, counted as if it were UTC. What is further than about
    ///   280 million years from then is taken for the nearest that is not.
    package func match(local: Int64) -> LocalTimeMatch {
        let bound: Int64 = 1 << 53
        let local = Swift.min(Swift.max(local, -bound), bound)
        var found: [Int64] = []
        var gap: (end: Int64, shifted: Int64)?
        var second = local - Self.largestOffset
        // No zone has more than a few transitions within two days.
        for _ in 0..<16 {
            let period = period(at: second)
            let instant = local - period.offset
            if instant >= period.start, instant < period.end { found.append(instant) }
            guard period.end <= local + Self.largestOffset else { break }
            let next = self.period(at: period.end)
            if local >= period.localEnd, local < period.end + next.offset {
                gap = (period.end, local - period.offset)
            }
            second = period.end
        }
        if let first = found.first, let last = found.last {
            guard last > first else { return .once(Timestamp(seconds: first)) }
            return .twice(first: Timestamp(seconds: first), second: Timestamp(seconds: last))
        }
        guard let gap else { return .once(Timestamp(seconds: local - Int64(offset(at: Timestamp(seconds: local))))) }
        return .skipped(end: Timestamp(seconds: gap.end), shifted: Timestamp(seconds: gap.shifted))
    }
}
