import PushCore
import Scheduling

extension RecipientTime {
    /// When a campaign comes to the recipients of a zone.
    package enum Due: Hashable {
        /// At this instant.
        case at(Timestamp)
        /// Not at all, for this reason.
        case never(ExclusionReason)
    }

    /// The earliest instant at which it is that time anywhere: no zone is further ahead than 14 hours.
    package var earliest: Timestamp { Timestamp(rawValue: (time - 14 * 3600) * 1000) }

    /// When it is that time in a zone.
    ///
    /// - Parameter accepted: When the campaign was accepted: what was over then is past, however late it begins.
    package func due(in rules: ZoneRules, accepted: Timestamp) -> Due {
        guard let instant = instant(time, rules) else { return .never(.gap) }
        guard instant < accepted else { return .at(instant) }
        switch past {
        case .now: return .at(accepted)
        case .skip: return .never(.past)
        case .nextDay:
            let days = max(0, accepted.milliseconds(since: instant) / 86_400_000)
            // The days on which it does not exist are left out, as is the shorter side of a change of clocks.
            for day in days...(days + 3) {
                if let later = self.instant(time + day * 86_400, rules), later >= accepted { return .at(later) }
            }
            return .never(.gap)
        }
    }

    private func instant(_ local: Int64, _ rules: ZoneRules) -> Timestamp? {
        switch rules.match(local: local) {
        case .once(let instant): return instant
        case .twice(let first, let second): return overlap == .first ? first : second
        case .skipped(let end, let shifted):
            switch gap {
            case .end: return end
            case .shift: return shifted
            case .skip: return nil
            }
        }
    }
}

extension QuietHours {
    /// When the quiet hours end in which a zone is; `nil` where it is in none.
    package func end(in rules: ZoneRules, now: Timestamp) -> Timestamp? {
        let local = now.rawValue / 1000 + Int64(rules.offset(at: now))
        let second = (local % 86_400 + 86_400) % 86_400
        let (first, last) = (from * 60, to * 60)
        guard first < last ? (first..<last).contains(second) : second >= first || second < last else { return nil }
        let end = local - second + last + (last > second ? 0 : 86_400)
        let found: Timestamp
        switch rules.match(local: end) {
        case .once(let instant): found = instant
        case .skipped(let end, _): found = end
        case .twice(let first, let second): found = first > now ? first : second
        }
        // Where clocks are set back the end may be before the present; it is looked for again then.
        return max(found, now.adding(milliseconds: 60_000))
    }
}
