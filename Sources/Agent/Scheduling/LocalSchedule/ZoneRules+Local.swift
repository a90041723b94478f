import CoreValues

extension ZoneRules {
    /// The longest gap, and the longest time between two instants with the same local time, in seconds: the difference
    /// between the smallest and the largest offset.
    static let longestRepeat: Int64 = 2 * largestOffset

    /// The latest local time before a period, in seconds; `nil` for the first period.
    func latestLocalTime(before period: OffsetPeriod) -> Int64? {
        var latest: Int64?
        var look = period.start
        // No zone has more than a few transitions within two days.
        for _ in 0..<8 {
            guard look != .min, look > period.start - Self.longestRepeat else { break }
            let earlier = self.period(at: look - 1)
            latest = Swift.max(latest ?? .min, earlier.localEnd)
            look = earlier.start
        }
        return latest
    }
}

extension ZoneRules {
    /// A zone whose offsets come from another source, sampled every four days between two instants. Before and after
    /// these the first and the last offset count.
    ///
    /// Two transitions within four days may be missed. Offsets are clamped to 26 hours.
    package static func sampled(
        from start: Timestamp, through end: Timestamp, secondsFromGMT: (Timestamp) -> Int
    ) -> ZoneRules {
        func offset(_ second: Int64) -> Int32 {
            let value = Int64(secondsFromGMT(Timestamp(seconds: second)))
            return Int32(Swift.min(Swift.max(value, -largestOffset), largestOffset))
        }
        let last = end.rawValue.floorDivided(by: 1000)
        var second = start.rawValue.floorDivided(by: 1000)
        let initial = offset(second)
        var known = initial
        var transitions: [Int64] = []
        var offsets: [Int32] = []
        while second < last, transitions.count < mostTransitions {
            let next = Swift.min(second.saturatingSum(4 * GregorianCalendar.secondsPerDay), last)
            let found = offset(next)
            if found != known {
                var (before, after) = (second, next)
                while after - before > 1 {
                    let middle = before + (after - before) / 2
                    if offset(middle) == known { before = middle } else { after = middle }
                }
                transitions.append(after)
                offsets.append(offset(after))
                known = offset(after)
                second = after
            } else {
                second = next
            }
        }
        return ZoneRules(
            initial: Int64(initial), transitions: transitions, offsets: offsets, footer: nil, footerStart: .max)
    }
}
