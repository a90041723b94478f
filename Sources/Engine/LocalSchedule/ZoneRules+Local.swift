extension ZoneRules {
    /// No two instants that clocks show alike, and no gap, are further apart than this: one offset at each end.
    static let widest: Int64 = 2 * largestOffset

    /// The latest local time, in seconds, that clocks have shown before a stretch began; `nil` when nothing was before.
    func shown(before span: Span) -> Int64? {
        var latest: Int64?
        var look = span.start
        // More than a few changes within two days are nobody's rules.
        for _ in 0..<8 {
            guard look != .min, look > span.start - Self.widest else { break }
            let earlier = self.span(at: look - 1)
            latest = Swift.max(latest ?? .min, earlier.localEnd)
            look = earlier.start
        }
        return latest
    }
}

extension ZoneRules {
    /// A zone by its offsets as another source tells them; before and after it stays at the first and the last.
    ///
    /// Two changes of the offset within four days may be missed. Offsets beyond a day and two hours are cut off there.
    public static func sampled(
        from start: Instant, through end: Instant, secondsFromGMT: (Instant) -> Int
    ) -> ZoneRules {
        func offset(_ second: Int64) -> Int32 {
            let value = Int64(secondsFromGMT(Instant(seconds: second)))
            return Int32(Swift.min(Swift.max(value, -largestOffset), largestOffset))
        }
        let last = end.milliseconds.floorDivided(by: 1000)
        var second = start.milliseconds.floorDivided(by: 1000)
        let initial = offset(second)
        var known = initial
        var transitions: [Int64] = []
        var offsets: [Int32] = []
        while second < last, transitions.count < mostTransitions {
            let next = Swift.min(second.saturatingSum(4 * Civil.secondsPerDay), last)
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
