import AgentWire
import Foundation
import LocalSchedule

/// What waits for its time or place, for a person at a terminal.
extension Agent {
    /// How many of the next times a person is told.
    private static let timeCount = 3

    /// What is due first comes first; what waits for a place comes last.
    func waiting(_ app: String?) throws -> [PendingNotification] {
        let now = parts.clock.now()
        return try store.read { try $0.pending(app: app) }.map { waiting in
            PendingNotification(
                app: waiting.app, appName: apps[waiting.app]?.manifest.name ?? waiting.app,
                content: localized(waiting.request.content, app: waiting.app), identifier: waiting.request.identifier,
                times: schedule.nextTimes(waiting.key, count: Self.timeCount, now: now).map(\.milliseconds),
                reason: reason(of: waiting), fired: waiting.fired)
        }.sorted { ($0.times.first ?? .max, $0.app, $0.identifier) < ($1.times.first ?? .max, $1.app, $1.identifier) }
    }

    private func reason(of waiting: PendingRequest) -> String {
        switch waiting.request.trigger {
        case .timeInterval(let asked, let repeats):
            // What a store of before holds may be any number.
            let seconds = asked.isFinite ? min(max(asked, 0), Self.longestInterval) : 0
            let start = "\(Duration.seconds(seconds).words) after it was added"
            return repeats ? "every \(Duration.seconds(seconds).words) since it was added" : start
        case .calendar(let components, let repeats):
            let zone = components.timeZone.flatMap { $0 == .autoupdatingCurrent ? nil : $0.identifier }
            return "\(repeats ? "whenever" : "when") \(components.words) in "
                + (zone ?? "the machine's time zone")
        case .region(let region, let repeats):
            return reason(of: region, repeats: repeats, side: regions.state(of: waiting.key))
        case nil: return ""
        }
    }

    private func reason(
        of region: NotificationTrigger.Region, repeats: Bool, side: RegionWatch.State?
    ) -> String {
        let crossing = region.onEntry ? region.onExit ? "entering or leaving" : "entering" : "leaving"
        let place = "\(region.radius.formatted()) m around \(region.latitude), \(region.longitude)"
        let known =
            switch side ?? .unknown {
            case .inside: "now inside"
            case .outside: "now outside"
            case .unknown:
                positionFault.map { "where this machine is, is not known: \($0)" } ?? "not known yet where it is"
            }
        let source = parts.positions.map { "by \($0.name)" } ?? "nothing tells where this machine is"
        return "\(repeats ? "each time on" : "on") \(crossing) \(place); \(known); \(source)"
    }

    /// Takes back what waits, for a person.
    func cancel(_ identifiers: [String], of app: String) throws -> ManagementAnswer {
        guard apps[app] != nil else { return Self.unknown(app) }
        let waiting = Set(try store.read { try $0.requests(app: app) }.map(\.identifier))
        if let wrong = identifiers.first(where: { !waiting.contains($0) }) {
            return .failed(
                message: "nothing of \(app) waits as \(wrong); `aldaba notifications pending` shows what does")
        }
        enqueue(.unscheduled(app: app, identifiers: identifiers))
        return durable()
    }
}

extension Duration {
    /// Such as `1 h 30 min`, to the millisecond.
    var words: String {
        let units: [(name: String, milliseconds: Int64)] = [
            ("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1),
        ]
        var rest = max(0, milliseconds)
        var words: [String] = []
        for unit in units where rest >= unit.milliseconds {
            words.append("\(rest / unit.milliseconds) \(unit.name)")
            rest %= unit.milliseconds
        }
        return words.isEmpty ? "0 s" : words.joined(separator: " ")
    }
}

extension DateComponents {
    /// The fields that are given, such as `hour=9 minute=30`.
    var words: String {
        let fields: [(name: String, value: Int?)] = [
            ("era", era), ("year", year), ("month", month), ("day", day), ("hour", hour), ("minute", minute),
            ("second", second), ("nanosecond", nanosecond), ("weekday", weekday), ("weekdayOrdinal", weekdayOrdinal),
            ("quarter", quarter), ("weekOfMonth", weekOfMonth), ("weekOfYear", weekOfYear),
            ("yearForWeekOfYear", yearForWeekOfYear), ("dayOfYear", dayOfYear),
        ]
        return fields.compactMap { field in field.value.map { "\(field.name)=\($0)" } }.joined(separator: " ")
    }
}
