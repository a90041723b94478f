import AgentProtocol
import Foundation
import PushCore
import Scheduling

extension RequestSchedule {
    /// The longest interval, in seconds: about three hundred years.
    package static let longestInterval = 1e10

    /// Why a trigger is refused: it will never fire, or it asks for too much. `nil` for one that can wait.
    package func fault(of trigger: NotificationTrigger, _ context: ScheduleContext) -> String? {
        switch trigger {
        case .timeInterval(let seconds, let repeats):
            return IntervalPattern(seconds: seconds, repeats: repeats) == nil || seconds > Self.longestInterval
                ? "an interval is a number of seconds above 0, at least 60 when it repeats, and at most three hundred years, "
                    + "not \(seconds)" : nil
        case .calendar(let components, let repeats): return fault(of: components, repeats: repeats, context)
        case .region(let region, _): return fault(of: region)
        }
    }

    /// How many regions one app may wait for, as on Apple's systems.
    package static let regionsPerApp = 20

    /// Why an app may not wait for one more region; `nil` where it may.
    ///
    /// - Parameters:
    ///   - identifier: That of the request, which takes the place of one with the same.
    ///   - others: The app's requests that wait.
    package static func faultOfRegions(with identifier: String, others: [NotificationRequest]) -> String? {
        let regions = others.filter { request in
            guard case .region? = request.trigger else { return false }
            return request.identifier != identifier
        }
        return regions.count < regionsPerApp ? nil : "an app may wait for \(regionsPerApp) regions at once"
    }

    private func fault(of region: NotificationTrigger.Region) -> String? {
        guard region.onEntry || region.onExit else { return "its region tells neither of entry nor of exit" }
        var trial = RegionWatch(most: 1)
        guard trial.add(0, region) == nil else {
            return
                "its region is not a circle on the earth: a latitude from -90 to 90, a longitude from -180 to 180 and a "
                + "radius above 0 and up to 20000000 metres"
        }
        return regions.count < Self.regionLimit
            ? nil : "\(Self.regionLimit) regions are waited for on this machine already"
    }

    private func fault(of components: DateComponents, repeats: Bool, _ context: ScheduleContext) -> String? {
        let trigger = NotificationTrigger.calendar(components, repeats: repeats)
        guard case .calendar(let pattern, let zone, _)? = LocalSchedule.Trigger(trigger, zone: context.zones)
        else {
            return "this machine does not know the time zone \(components.timeZone?.identifier ?? "")"
        }
        guard let zone = zone ?? context.zones(.floating) else { return "this machine's time zone is not known" }
        if repeats, pattern.isManyAMinute {
            return "its fields match many times a minute (\(components.words)): give a second too"
        }
        guard pattern.nextFire(in: zone, after: context.now.wall) == nil else { return nil }
        guard CalendarPattern.knowsCalendar(of: components) else {
            let name = components.calendar.map { "\($0.identifier)" } ?? ""
            return "this machine does not know the months of the calendar \(name)"
        }
        return Self.reasonForNoMatch(of: pattern, components, in: zone, at: context.now.wall)
    }

    /// Why date components match at no time to come.
    private static func reasonForNoMatch(
        of pattern: CalendarPattern, _ components: DateComponents, in zone: ZoneRules, at now: Timestamp
    ) -> String {
        let words = components.words
        guard components.year != nil, let past = pattern.nextFire(in: zone, after: .distantPast) else {
            let until = components.year == nil ? " in the next forty years" : ""
            return "no date\(until) is of these fields: \(words.isEmpty ? "none are given" : words)"
        }
        let offset = zone.offset(at: past)
        let passed = "its time has passed: \(past.text(secondsFromGMT: offset))"
        // When clocks are set back, a local time comes twice; the first one counts.
        let nextOffset = zone.offset(at: past.adding(milliseconds: 86_400_000))
        let again = past.adding(milliseconds: Int64(offset - nextOffset) * 1000)
        guard again > now, again > past, zone.offset(at: again) == nextOffset else { return passed }
        return
            "\(passed); clocks show it again at \(again.text(secondsFromGMT: nextOffset)), which names it by its offset"
    }
}
