extension ZoneRules {
    /// When clocks in a zone show a certain time.
    public enum LocalMoment: Hashable, Sendable {
        /// Once, as is usual.
        case one(Instant)
        /// Twice, since clocks go back over it: the first and the second time.
        case two(Instant, Instant)
        /// Never, since clocks skip it: the first instant after the gap.
        case gap(next: Instant)
    }

    /// No two instants that clocks show alike, and no gap, are further apart than this: one offset at each end.
    static let widest: Int64 = 2 * largestOffset

    /// When clocks show a local time.
    ///
    /// - Parameter local: what clocks show, in milliseconds counted from 1970-01-01 00:00 of the same clocks. What is
    ///   further from there than the calendar reaches (a hundred million years) is taken for its end.
    public func instants(ofLocal local: Int64) -> LocalMoment {
        let bound: Int64 = 3_000_000_000_000_000_000
        let local = Swift.min(Swift.max(local, -bound), bound)
        let second = local.floorDivided(by: 1000)
        var found: [Instant] = []
        var gap: Instant?
        var look = second - Self.largestOffset
        // A zone whose offset changes all the time is looked at no further than this many changes.
        for _ in 0..<512 {
            let span = span(at: look)
            if span.start == look, gap == nil, look + span.offset > second { gap = Instant(seconds: look) }
            if span.start == .min || second - span.offset >= span.start, second < span.localEnd {
                found.append(Instant(milliseconds: local - span.offset * 1000))
            }
            guard span.end <= second + Self.largestOffset, found.count < 2 else { break }
            look = span.end
        }
        guard let first = found.first else { return .gap(next: gap ?? Instant(milliseconds: local)) }
        return found.count > 1 ? .two(first, found[1]) : .one(first)
    }

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
