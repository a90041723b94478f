import AgentEngine
import AgentProtocol
import Foundation
import PushCore
import Scheduling

/// The list of scheduled requests, for a person at a terminal.
extension ManagementCommandHandler {
    /// How many of the next times an answer lists.
    private static let timeCount = 3

    /// How many requests one answer describes, so that what is due meanwhile does not wait for it.
    private static let pageSize = 32
    /// The greatest size of a request's content in an answer, in bytes of JSON.
    private static let mostTold = 64 << 10

    /// A page of the scheduled requests, of one app or of all. Requests are in the order of their due times; those
    /// without a time come last.
    func pending(_ app: BundleID?, after last: PendingOrder?) throws -> ManagementAnswer {
        if let app, try !isInstalledOrPending(app) { return Self.unknown(app) }
        let deadlines = try deadlines(app, after: last.map(LocalSchedule.Deadline.init))
        var page: [PendingNotification] = []
        var capacity = AnswerLimits.bytes
        for (index, deadline) in deadlines.enumerated() {
            guard let waiting = try store.read({ try $0.pending(key: deadline.key) }) else { continue }
            let told = describe(waiting)
            capacity -= try JSONEncoder().encode(told).count
            if capacity < 0, index > 0 { return .pending(page, next: PendingOrder(deadlines[index - 1])) }
            if capacity >= 0 { page.append(told) }
        }
        return .pending(page, next: deadlines.count < Self.pageSize ? nil : deadlines.last.map(PendingOrder.init))
    }

    /// Whether an app is installed, or requests of it wait although it is not.
    private func isInstalledOrPending(_ app: BundleID) throws -> Bool {
        try registry.apps[app] != nil || !store.read { try $0.pendingKeys(app: app) }.isEmpty
    }

    /// The deadlines of the next page. Requests that wait for no time come last.
    private func deadlines(_ app: BundleID?, after last: LocalSchedule.Deadline?) throws -> [LocalSchedule.Deadline] {
        func isLater(_ deadline: LocalSchedule.Deadline) -> Bool { last.map { deadline > $0 } ?? true }
        let times = schedule.times
        var deadlines: [LocalSchedule.Deadline]
        let timeless: any Collection<RequestKey>
        if let app {
            let keys = try store.read { try $0.pendingKeys(app: app) }
            deadlines = keys.compactMap(times.deadline).filter(isLater)
            timeless = keys.filter { times.deadline(of: $0) == nil }
        } else {
            deadlines = times.deadlines(after: last, limit: Self.pageSize)
            timeless = schedule.held.union(schedule.regions.keys)
        }
        if deadlines.count < Self.pageSize {
            deadlines += timeless.map { LocalSchedule.Deadline(instant: .distantFuture, key: $0) }.filter(isLater)
        }
        return Array(deadlines.sorted().prefix(Self.pageSize))
    }

    /// The content of a request, in at most ``mostTold`` bytes: texts from the app's string tables may be of any
    /// length.
    private func content(of waiting: PendingRequest) -> NotificationContent {
        let said = waiting.request.content
        for content in [registry.localized(said, app: waiting.app), said] {
            if let size = try? JSONEncoder().encode(content).count, size <= Self.mostTold { return content }
        }
        var short = NotificationContent()
        short.title = "\(said.title.prefix(100))…"
        return short
    }

    func describe(_ waiting: PendingRequest) -> PendingNotification {
        let times = schedule.nextTimes(of: waiting, count: Self.timeCount, scheduleContext)
        let zone = zone(of: waiting)
        let offsets = times.map { zone?.offset(at: $0) ?? 0 }
        return PendingNotification(
            app: waiting.app, appName: registry.apps[waiting.app]?.manifest.name ?? waiting.app.rawValue,
            content: content(of: waiting), identifier: waiting.request.identifier,
            times: times.map(\.rawValue), offsets: offsets,
            reason: reason(of: waiting) + moved(waiting, Array(zip(times, offsets)))
                + (blockedReason(of: waiting) ?? ""),
            fired: waiting.fired)
    }

    /// The zone of a request's times in an answer: its own, or the machine's.
    private func zone(of waiting: PendingRequest) -> ZoneRules? {
        guard case .calendar(let components, _)? = waiting.request.trigger else {
            return scheduleContext.zones(.floating)
        }
        return scheduleContext.zones(ZoneChoice(components.timeZone)) ?? scheduleContext.zones(.floating)
    }

    /// A remark on the first time that differs from the requested time of day, since the clocks skip it on that day.
    private func moved(_ waiting: PendingRequest, _ times: [(Timestamp, Int)]) -> String {
        guard case .calendar(let components, _)? = waiting.request.trigger, components.hour != nil else { return "" }
        let moved = times.first { time, offset in
            let second = (time.rawValue / 1000 + Int64(offset)) % 86_400
            return Int(second / 3600) != components.hour
                || components.minute.map { Int(second / 60 % 60) != $0 } ?? false
        }
        guard let (time, offset) = moved else { return "" }
        return "; clocks skip that time on the way to \(time.text(secondsFromGMT: offset)), which comes instead"
    }

    /// Why a request that waits cannot fire now; `nil` where it can.
    private func blockedReason(of waiting: PendingRequest) -> String? {
        if registry.apps[waiting.app] == nil { return "; not before its app is installed again" }
        if case .calendar(let components, _) = waiting.request.trigger, let zone = components.timeZone,
            scheduleContext.zones(ZoneChoice(zone)) == nil
        {
            return "; not before this machine knows that time zone"
        }
        if case .region = waiting.request.trigger { return nil }
        return schedule.isHeldByClock(waiting.key)
            ? "; held until the clock, which is more than a day from where it was, has stood for a minute" : nil
    }

    private func reason(of waiting: PendingRequest) -> String {
        switch waiting.request.trigger {
        case .timeInterval(let asked, let repeats):
            // A request that an earlier version stored may have any number.
            let seconds = asked.isFinite ? min(max(asked, 0), RequestSchedule.longestInterval) : 0
            let start = "\(Duration.seconds(seconds).words) after it was added"
            return repeats ? "every \(Duration.seconds(seconds).words) since it was added" : start
        case .calendar(let components, let repeats):
            let zone = components.timeZone.flatMap { $0 == .autoupdatingCurrent ? nil : $0.identifier }
            let here = scheduleContext.zones(.floating)?.name.map { " (\($0))" } ?? ""
            return "\(repeats ? "whenever" : "when") \(components.words) in "
                + (zone ?? "the machine's time zone\(here)")
        case .region(let region, let repeats):
            return reason(of: region, repeats: repeats, key: waiting.key)
        case nil: return ""
        }
    }

    private func reason(
        of region: NotificationTrigger.Region, repeats: Bool, key: RequestKey
    ) -> String {
        let crossing = region.onEntry ? region.onExit ? "entering or leaving" : "entering" : "leaving"
        let place = "\(region.radius.formatted()) m around \(region.latitude), \(region.longitude)"
        return "\(repeats ? "each time on" : "on") \(crossing) \(place); \(sideOfEdge(key))"
    }

    /// The side of a region's edge on which the machine is, as far as that is known, and the source of that position.
    private func sideOfEdge(_ key: RequestKey) -> String {
        let regions = schedule.regions
        let side = regions.state(of: key) ?? .unknown
        let before = side == .unknown ? "" : "last known \(side.rawValue); "
        guard let positionSource = circumstances.positionSource else {
            return "\(before)nothing tells where this machine is"
        }
        if let positionFault = schedule.positionFault {
            return "\(before)where this machine is, is not known: \(positionFault)"
        }
        let source = "by \(positionSource)"
        guard regions.hasPosition else { return "\(before)not known yet where this machine is; \(source)" }
        let seconds = RegionWatch.dwell / 1000
        if let crossing = regions.crossing(of: key) {
            return "\(before)now it seems \(crossing.state.rawValue), which counts after \(seconds) s; \(source)"
        }
        return side == .unknown ? "too near to its edge to tell; \(source)" : "now \(side.rawValue); \(source)"
    }

    /// Takes requests back that wait, for a person.
    func cancel(_ identifiers: [String], of app: BundleID) throws -> Outcome {
        guard try isInstalledOrPending(app) else { return .answer(Self.unknown(app)) }
        let waiting = Set(try store.read { try $0.requests(app: app) }.map(\.identifier))
        if let wrong = identifiers.first(where: { !waiting.contains($0) }) {
            return .answer(
                .failed(
                    message: "nothing of \(app) waits as \(wrong); `aldaba notifications pending` shows what does"))
        }
        return .order(.cancel(identifiers, app: app))
    }
}

extension PendingOrder {
    fileprivate init(_ deadline: LocalSchedule.Deadline) {
        self.init(
            deadline: deadline.instant == .distantFuture ? nil : deadline.instant.rawValue, key: deadline.key.rawValue)
    }
}

extension LocalSchedule.Deadline {
    fileprivate init(_ turn: PendingOrder) {
        self.init(
            instant: turn.deadline.map(Timestamp.init(rawValue:)) ?? .distantFuture, key: RequestKey(rawValue: turn.key)
        )
    }
}
