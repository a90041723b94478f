import AgentProtocol
import PushCore
import Scheduling

/// When and where the requests in the store fire: the schedule of times, the watch of regions, and the trust in the
/// wall clock.
///
/// A value without I/O: the owner passes events, and follows the directives in their order. The store is the truth:
/// whenever the wall clock becomes suspect or trusted, or the store has failed, everything is dropped and loaded from
/// the store again. While the clock is suspect (``ClockPlausibility``), requests whose time is on the wall clock are
/// held: they neither fire nor are missed. Intervals of this boot and regions go on.
package struct RequestSchedule: Sendable {
    /// The clocks, zones and settings that the schedule reads during one event.
    package struct ScheduleContext {
        /// The reading of the clocks at the event.
        package var now: ClockReading
        /// The rules of a zone; `nil` for an unknown one.
        package var zones: (ZoneChoice) -> ZoneRules?
        /// The person's choice for missed requests of an app, by its bundle id.
        package var missedPolicy: (BundleID) -> MissedPolicy

        /// The context of one event.
        package init(
            now: ClockReading, zones: @escaping (ZoneChoice) -> ZoneRules?,
            missedPolicy: @escaping (BundleID) -> MissedPolicy
        ) {
            self.now = now
            self.zones = zones
            self.missedPolicy = missedPolicy
        }
    }

    /// An input of the schedule.
    package enum Event: Sendable {
        /// All rows of the store, after `load`.
        case loaded([PendingRequest])
        /// Rows that were read again: after `read`, when their app was installed, and when its settings have changed.
        case reread([PendingRequest])
        /// A request was stored; those of the replaced keys wait no longer.
        case stored(PendingRequest, replaced: [RequestKey])
        /// The requests of these keys left the store.
        case removed([RequestKey])
        /// The store holds the requests of these keys and no others.
        case retained(Set<RequestKey>)
        /// A request fired whose app is not installed. It is held until its row is read again.
        case appMissing(key: RequestKey)
        /// The store failed: what has fired may not be in it.
        case storeFailed
        /// The pause after a failure of the store is over.
        case pauseEnded
        /// A report of the alarm clock: it rang, the wall clock was set, or time zones may have changed.
        case clock(AlarmClockEvent)
        /// Time has passed: the answer to `continue`.
        case timePassed
        /// A report of the position source: a position, or why there is none.
        case position(PositionEvent)
    }

    /// An output of the schedule, which its owner must perform.
    package enum Directive: Sendable, Hashable {
        /// Fire a request and store its occurrence; `nil` for a crossing of a region's edge. `lateBy` is in
        /// milliseconds.
        case fire(key: RequestKey, occurrence: Timestamp?, lateBy: Int64, isLast: Bool)
        /// Store an occurrence that does not fire, since it was noticed too late.
        case missed(key: RequestKey, occurrence: Timestamp, isLast: Bool)
        /// Remove a request from the store that has no occurrence to come.
        case never(key: RequestKey, app: BundleID)
        /// Store these times in place of those that the row has: the same moments, by the wall clock as it is now.
        case anchored(key: RequestKey, added: ClockReading, lastFired: Timestamp?)
        /// Store the side of a region's edge on which the machine is.
        case crossed(key: RequestKey, side: RegionWatch.State)
        /// Have the alarm clock ring at an instant of the wall clock; `nil` for never.
        case arm(Timestamp?)
        /// Have positions reported from now on, or no longer.
        case watchPosition(Bool)
        /// Read all rows, and report `loaded`.
        case load
        /// Report `pauseEnded` after a pause.
        case pause
        /// Read these rows, and report `reread`.
        case read(keys: [RequestKey])
        /// More is due: report `timePassed` after other work has run.
        case `continue`
        /// Write a line to the log.
        case log(Notice)
    }

    /// A notice for the person.
    package enum Notice: Sendable, Hashable {
        /// The wall clock was set, or the machine has slept.
        case clockChanged
        /// The wall clock became suspect: requests whose time is on it are held. The state has the direction of the
        /// jump.
        case clockSuspect(ClockPlausibility.State)
        /// The wall clock is trusted again: the held requests are loaded.
        case clockTrusted
        /// The machine may be in another time zone, or zones may have other rules: all are looked up again.
        case zonesChanged
        /// A request of this app is held: this machine does not know its time zone.
        case zoneUnknown(app: BundleID)
        /// A request of this app is held: its region cannot be watched, and why.
        case regionRefused(app: BundleID, RegionWatch.Refusal)
        /// The machine's position cannot be determined at this time, for this reason.
        case positionUnknown(reason: String)
        /// A reported position was ignored: it is not on the earth, or its accuracy is no distance.
        case positionRefused
    }

    /// The greatest number of due times that one event reports; the rest comes with the next.
    package static let batchSize = 256
    /// The greatest number of regions of all apps.
    package static let regionLimit = 4_096
    /// How long after a change of zones they are looked up once more, in milliseconds. The file that names the
    /// machine's zone may be missing while it is replaced.
    package static let zoneSettlingTime = (LocalZones.timeout.components.seconds + 1) * 1000

    /// Whether the rows of the store were ever loaded.
    package var isLoaded = false
    /// The requests that wait for a time, by their keys.
    package var times = LocalSchedule(floating: .utc)
    /// The regions of the requests that wait for a place, by the requests' keys; at most ``regionLimit``.
    package var regions = RegionWatch(most: regionLimit)
    /// The keys of regions that fire at every crossing, not at the first alone.
    package var repeatingRegions: Set<RequestKey> = []
    /// The keys of requests that are in the store and cannot fire now: their app is not installed, their zone is not
    /// known, their region cannot be watched, the wall clock is suspect, or the store has failed.
    package var held: Set<RequestKey> = []
    /// Whether the wall clock is trusted.
    package var plausibility = ClockPlausibility()
    /// When zones are looked up once more, in milliseconds of CLOCK_BOOTTIME.
    package var zoneDeadline: Int64?
    /// The instant at which the alarm clock rings, by the wall clock; `nil` when it is not armed, or that is not known.
    package var armed: Timestamp?
    /// Whether positions are to be reported, by the last directive to the owner.
    package var isWatchingPosition = false
    /// Why the position is unknown; `nil` while it is known, and while nothing has been reported.
    package var positionFault: String?
    /// How far loading again has come after a failure of the store.
    package var reload = Reload.none

    /// A schedule that has not loaded the store and has no requests, by default. Each parameter is the property of its
    /// name.
    package init(
        isLoaded: Bool = false, times: LocalSchedule = LocalSchedule(floating: .utc),
        regions: RegionWatch = RegionWatch(most: regionLimit), repeatingRegions: Set<RequestKey> = [],
        held: Set<RequestKey> = [],
        plausibility: ClockPlausibility = ClockPlausibility(), zoneDeadline: Int64? = nil, armed: Timestamp? = nil,
        isWatchingPosition: Bool = false, positionFault: String? = nil, reload: Reload = Reload.none
    ) {
        self.isLoaded = isLoaded
        self.times = times
        self.regions = regions
        self.repeatingRegions = repeatingRegions
        self.held = held
        self.plausibility = plausibility
        self.zoneDeadline = zoneDeadline
        self.armed = armed
        self.isWatchingPosition = isWatchingPosition
        self.positionFault = positionFault
        self.reload = reload
    }

    /// The stages of loading again after a failure of the store.
    package enum Reload: Sendable {
        /// Each is a stage: no failure, the pause after one, and the reading of all rows.
        case none, pausing, loading
    }

    /// The next occurrences of a request, at most `count`. Those of a request that is held for a suspect clock are what
    /// that clock makes of them.
    package func nextTimes(of pending: PendingRequest, count: Int, _ context: ScheduleContext) -> [Timestamp] {
        guard isHeldByClock(pending.key), let entry = entry(of: pending, context) else {
            return times.nextTimes(pending.key, count: count, now: context.now)
        }
        var trial = LocalSchedule(floating: context.zones(.floating) ?? .utc)
        _ = trial.add(pending.key, entry, now: context.now)
        return trial.nextTimes(pending.key, count: count, now: context.now)
    }

    /// Whether a request is held while the wall clock is suspect.
    package func isHeldByClock(_ key: RequestKey) -> Bool { !plausibility.isTrusted && held.contains(key) }

    /// The entry of a request that waits for a time; `nil` for a region and for an unknown zone.
    package func entry(of pending: PendingRequest, _ context: ScheduleContext) -> LocalSchedule.Entry? {
        guard let trigger = pending.request.trigger,
            let time = LocalSchedule.Trigger(trigger, zone: context.zones)
        else { return nil }
        return LocalSchedule.Entry(
            trigger: time, added: pending.added, addedOffset: pending.addedOffset, lastFired: pending.lastFired,
            missed: context.missedPolicy(pending.app))
    }
}
