import DeviceModel
import DevicePorts
import LocalSchedule
import LocalZones

/// When and where the requests in the store fire: the schedule of times, the watch of regions, and the trust in the wall clock.
///
/// A value without I/O: the owner passes events, and follows the directives in their order. The store is the truth: whenever the
/// wall clock becomes suspect or trusted, or the store has failed, everything is dropped and loaded from the store again. While
/// the clock is suspect (``ClockPlausibility``), requests whose time is on the wall clock are held: they neither fire nor are
/// missed. Intervals of this boot and regions go on.
package struct RequestSchedule: Sendable {
    /// What the schedule asks of its surroundings during one event.
    package struct Surroundings {
        package var now: ClockReading
        /// The rules of a zone; `nil` for an unknown one.
        package var zones: (ZoneChoice) -> ZoneRules?
        /// What the person chose for missed requests of an app, by its bundle id.
        package var missedPolicy: (String) -> MissedPolicy

        package init(
            now: ClockReading, zones: @escaping (ZoneChoice) -> ZoneRules?,
            missedPolicy: @escaping (String) -> MissedPolicy
        ) {
            self.now = now
            self.zones = zones
            self.missedPolicy = missedPolicy
        }
    }

    package enum Event: Sendable {
        /// All rows of the store, after `load`.
        case loaded([PendingRequest])
        /// Rows that were read again: after `read`, and when their app was installed or its settings have changed.
        case reread([PendingRequest])
        /// A request was stored; the replaced ones wait no longer.
        case stored(PendingRequest, replaced: [Int64])
        /// Requests left the store.
        case removed([Int64])
        /// The store holds these and no others.
        case retained(Set<Int64>)
        /// A request fired whose app is not installed. It is held until its row is read again.
        case appMissing(key: Int64)
        /// The store failed: what was fired may not be stored.
        case storeFailed
        /// The pause after a failure of the store is over.
        case pauseEnded
        case clock(AlarmClockEvent)
        /// Time has passed: the answer to `continue`.
        case timePassed
        case position(PositionEvent)
    }

    package enum Directive: Sendable, Hashable {
        /// Fire a request and store its occurrence; `nil` for a crossing of a region's edge. `lateBy` is in milliseconds.
        case fire(key: Int64, occurrence: Instant?, lateBy: Int64, isLast: Bool)
        /// Store an occurrence that does not fire, since it was noticed too late.
        case missed(key: Int64, occurrence: Instant, isLast: Bool)
        /// Remove a request from the store that has no occurrence to come.
        case never(key: Int64, app: String)
        /// Store these times, which mean the same moments by the wall clock as it is now.
        case anchored(key: Int64, added: ClockReading, lastFired: Instant?)
        /// Store the side of a region's edge on which the machine is.
        case crossed(key: Int64, side: RegionWatch.State)
        /// Have the alarm clock ring at an instant of the wall clock; `nil` for never.
        case arm(Instant?)
        /// Start or stop reporting positions.
        case watchPosition(Bool)
        /// Read all rows, and report `loaded`.
        case load
        /// Report `pauseEnded` after a pause.
        case pause
        /// Read these rows, and report `reread`.
        case read(keys: [Int64])
        /// More is due: report `timePassed` after other work has had its turn.
        case `continue`
        case log(Notice)
    }

    /// What a person may want to know.
    package enum Notice: Sendable, Hashable {
        case clockChanged
        case clockSuspect(ClockPlausibility.State)
        case clockTrusted
        case zonesChanged
        case zoneUnknown(app: String)
        case regionRefused(app: String, RegionWatch.Refusal)
        case positionUnknown(reason: String)
        case positionRefused
    }

    /// How many occurrences one event reports.
    package static let batchSize = 256
    /// The greatest number of regions of all apps.
    package static let regionLimit = 4_096
    /// How long after a change of zones they are looked up once more, in milliseconds: the file that names the machine's zone may
    /// be missing while it is replaced.
    package static let zoneSettlingTime = (LocalZones.patience.components.seconds + 1) * 1000

    /// Whether the rows of the store were ever loaded.
    package var isLoaded = false
    package var times = LocalSchedule(floating: .utc)
    package var regions = RegionWatch(most: regionLimit)
    /// Regions that fire at every crossing.
    package var repeatingRegions: Set<Int64> = []
    /// Requests that are in the store and wait for nothing now: their app, their zone or the trust in the wall clock is missing.
    package var held: Set<Int64> = []
    package var plausibility = ClockPlausibility()
    /// When zones are looked up once more, in milliseconds of CLOCK_BOOTTIME.
    package var zoneDeadline: Int64?
    /// The instant at which the alarm clock rings.
    package var armed: Instant?
    package var isWatchingPosition = false
    /// Why the position is unknown; `nil` while it is known, and while nothing has been reported.
    package var positionFault: String?
    package var reload = Reload.none

    package init(
        isLoaded: Bool = false, times: LocalSchedule = LocalSchedule(floating: .utc),
        regions: RegionWatch = RegionWatch(most: regionLimit), repeatingRegions: Set<Int64> = [], held: Set<Int64> = [],
        plausibility: ClockPlausibility = ClockPlausibility(), zoneDeadline: Int64? = nil, armed: Instant? = nil,
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

    /// Loading again after a failure of the store.
    package enum Reload: Sendable {
        case none, pausing, loading
    }

    /// The next occurrences of a request, up to a count. The times of a held request are those by the wall clock as it is.
    package func nextTimes(of pending: PendingRequest, count: Int, _ surroundings: Surroundings) -> [Instant] {
        guard isHeldByClock(pending.key), let entry = entry(of: pending, surroundings) else {
            return times.nextTimes(pending.key, count: count, now: surroundings.now)
        }
        var trial = LocalSchedule(floating: surroundings.zones(.floating) ?? .utc)
        _ = trial.add(pending.key, entry, now: surroundings.now)
        return trial.nextTimes(pending.key, count: count, now: surroundings.now)
    }

    /// Whether a request is held, and the wall clock is suspect.
    package func isHeldByClock(_ key: Int64) -> Bool { !plausibility.isTrusted && held.contains(key) }

    /// The entry of a request that waits for a time; `nil` for a region and for an unknown zone.
    package func entry(of pending: PendingRequest, _ surroundings: Surroundings) -> LocalSchedule.Entry? {
        guard let trigger = pending.request.trigger,
            let time = LocalSchedule.Trigger(trigger, zone: surroundings.zones)
        else { return nil }
        return LocalSchedule.Entry(
            trigger: time, added: pending.added, addedOffset: pending.addedOffset, lastFired: pending.lastFired,
            missed: surroundings.missedPolicy(pending.app))
    }
}
