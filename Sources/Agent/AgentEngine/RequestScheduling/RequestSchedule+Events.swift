import AgentProtocol
import PushCore
import Scheduling

extension RequestSchedule {
    /// Takes an event; returns what the owner must do, in order.
    package mutating func handle(_ event: Event, _ context: ScheduleContext) -> [Directive] {
        var directives: [Directive] = []
        if isLoaded, plausibility.observe(context.now) { trustChanged(context, &directives) }
        apply(event, in: context, to: &directives)
        let isContinued = directives.last == .continue
        if reload == .none { updatePositionWatch(&directives) }
        if !isContinued { rearm(context.now, &directives) }
        return directives
    }

    private mutating func apply(_ event: Event, in context: ScheduleContext, to directives: inout [Directive]) {
        switch event {
        case .loaded(let rows): load(rows, context: context, directives: &directives)
        case .reread(let rows): for row in rows { place(row, context: context, directives: &directives) }
        case .stored(let row, let replaced):
            remove(replaced)
            place(row, context: context, directives: &directives)
        case .removed(let keys): remove(keys)
        case .retained(let keys): remove(held.union(times.keys).union(regions.keys).subtracting(keys))
        case .appMissing(let key):
            remove([key])
            held.insert(key)
        case .storeFailed:
            // Directives that were not followed are lost, perhaps an `arm` among them.
            armed = nil
            hold(context)
            for key in Array(regions.keys) {
                regions.remove(key)
                held.insert(key)
            }
            guard reload != .pausing else { return }
            reload = .pausing
            directives.append(.pause)
        case .pauseEnded:
            reload = .loading
            directives.append(.load)
        case .clock(let event): clock(event, context: context, directives: &directives)
        case .timePassed: passTime(context, &directives)
        case .position(let event): position(event, context: context, directives: &directives)
        }
    }

    // MARK: Rows

    private mutating func load(
        _ rows: [PendingRequest], context: ScheduleContext, directives: inout [Directive]
    ) {
        reload = .none
        if !isLoaded {
            isLoaded = true
            plausibility.begin(
                context.now, newest: rows.map { max($0.added.wall, $0.lastFired ?? .distantPast) }.max())
            if !plausibility.isTrusted { directives.append(.log(.clockSuspect(plausibility.state))) }
        }
        remove(held.union(times.keys).union(regions.keys).subtracting(rows.map(\.key)))
        hold(context)
        for row in rows { place(row, context: context, directives: &directives) }
    }

    /// Has a request wait for its time or place; one that cannot fire now is held.
    private mutating func place(
        _ row: PendingRequest, context: ScheduleContext, directives: inout [Directive]
    ) {
        guard let trigger = row.request.trigger else { return }
        held.remove(row.key)
        if case .region(let region, let repeats) = trigger {
            if repeats { repeatingRegions.insert(row.key) }
            let state = regions.state(of: row.key) ?? row.side
            guard let refusal = regions.add(row.key, region, state: state) else { return }
            held.insert(row.key)
            return directives.append(.log(.regionRefused(app: row.app, refusal)))
        }
        times.remove(row.key)
        guard let entry = entry(of: row, context) else {
            held.insert(row.key)
            return directives.append(.log(.zoneUnknown(app: row.app)))
        }
        guard plausibility.isTrusted || !entry.dependsOnWallClock(now: context.now) else {
            held.insert(row.key)
            return
        }
        if times.add(row.key, entry, now: context.now) == .never {
            // Such as a time that passed while the request was being stored.
            directives.append(.never(key: row.key, app: row.app))
        }
    }

    private mutating func remove(_ keys: some Sequence<RequestKey>) {
        for key in keys {
            times.remove(key)
            regions.remove(key)
            repeatingRegions.remove(key)
            held.remove(key)
        }
    }

    /// Holds all requests that wait for a time.
    private mutating func hold(_ context: ScheduleContext) {
        held.formUnion(times.keys)
        times = LocalSchedule(floating: context.zones(.floating) ?? .utc)
    }

    // MARK: Time

    /// The wall clock became suspect or trusted.
    private mutating func trustChanged(_ context: ScheduleContext, _ directives: inout [Directive]) {
        hold(context)
        directives.append(.log(plausibility.isTrusted ? .clockTrusted : .clockSuspect(plausibility.state)))
        directives.append(.load)
    }

    private mutating func clock(
        _ event: AlarmClockEvent, context: ScheduleContext, directives: inout [Directive]
    ) {
        switch event {
        case .rang: armed = nil
        case .wallClockChanged:
            directives.append(.log(.clockChanged))
            // A step of the wall clock disarms the alarm. After a sleep the dwell time at a region's edge starts again.
            armed = nil
            regions.beginDwellAnew(sinceBoot: context.now.sinceBoot)
            times.clockChanged(now: context.now)
        case .zoneChanged:
            directives.append(.log(.zonesChanged))
            lookUpZones(context, &directives)
            let now = Timestamp(rawValue: context.now.sinceBoot)
            zoneDeadline = now.adding(milliseconds: Self.zoneSettlingTime).rawValue
        }
        passTime(context, &directives)
    }

    private mutating func lookUpZones(_ context: ScheduleContext, _ directives: inout [Directive]) {
        guard let zone = context.zones(.floating) else { return }
        report(
            times.zonesChanged(floating: zone, named: { context.zones(.named($0)) }, now: context.now),
            &directives)
        // An unknown zone may be known now.
        if !held.isEmpty { directives.append(.read(keys: held.sorted())) }
    }

    /// Reports what is due: times, at most a batch of them, and crossings.
    private mutating func passTime(_ context: ScheduleContext, _ directives: inout [Directive]) {
        let now = context.now
        if let deadline = zoneDeadline, deadline <= now.sinceBoot {
            zoneDeadline = nil
            lookUpZones(context, &directives)
        }
        let due = times.timePassed(now: now, limit: Self.batchSize)
        report(due, &directives)
        cross(regions.timePassed(sinceBoot: now.sinceBoot), &directives)
        if due.count == Self.batchSize { directives.append(.continue) }
    }

    private func report(_ reports: [LocalSchedule.Directive], _ directives: inout [Directive]) {
        for report in reports {
            switch report {
            case .fire(let key, let occurrence, let lateBy, let isLast):
                directives.append(.fire(key: key, occurrence: occurrence, lateBy: lateBy, isLast: isLast))
            case .missed(let key, let occurrence, let isLast):
                directives.append(.missed(key: key, occurrence: occurrence, isLast: isLast))
            case .anchored(let key, let added, let lastFired):
                directives.append(.anchored(key: key, added: added, lastFired: lastFired))
            }
        }
    }

    /// Arms the alarm clock for the next deadline of all.
    private mutating func rearm(_ now: ClockReading, _ directives: inout [Directive]) {
        let byBoot = [regions.nextDeadline, plausibility.deadline, zoneDeadline].compactMap { $0 }.min()
        let next = [times.nextDeadline, byBoot.map(now.wall(atBootTime:))].compactMap { $0 }.min()
        guard next != armed else { return }
        armed = next
        directives.append(.arm(next))
    }

    // MARK: Place

    private mutating func position(
        _ event: PositionEvent, context: ScheduleContext, directives: inout [Directive]
    ) {
        switch event {
        case .unavailable(let reason):
            directives.append(.log(.positionUnknown(reason: reason)))
            positionFault = reason
            regions.forgetPosition()
        case .position(let position):
            positionFault = nil
            let crossings = regions.positionReported(
                latitude: position.latitude, longitude: position.longitude, accuracy: position.accuracy,
                sinceBoot: context.now.sinceBoot)
            switch crossings {
            case .success(let crossings): cross(crossings, &directives)
            case .failure: directives.append(.log(.positionRefused))
            }
        }
    }

    private mutating func cross(_ crossings: [RegionWatch.Crossing], _ directives: inout [Directive]) {
        for crossing in crossings {
            directives.append(.crossed(key: crossing.key, side: crossing.state))
            guard crossing.fires else { continue }
            let isLast = !repeatingRegions.contains(crossing.key)
            if isLast { remove([crossing.key]) }
            directives.append(.fire(key: crossing.key, occurrence: nil, lateBy: 0, isLast: isLast))
        }
    }

    /// Has positions reported while a request waits for a place.
    private mutating func updatePositionWatch(_ directives: inout [Directive]) {
        let isNeeded = regions.count > 0
        guard isNeeded != isWatchingPosition else { return }
        isWatchingPosition = isNeeded
        positionFault = nil
        if !isNeeded { regions.forgetPosition() }
        directives.append(.watchPosition(isNeeded))
    }
}
