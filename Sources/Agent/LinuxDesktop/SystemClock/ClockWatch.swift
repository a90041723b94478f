import AgentEngine
import CLinux
import Glibc
import Platform

/// The thread's own: waits for the timer, the machine's zone, the rules of all zones, and the end.
final class ClockWatch {
    private let alarm: Descriptor
    private let end: WakeUp
    private let zone: FolderWatch
    private let rules: ZoneFilesWatch
    private let calls: ClockCalls
    private let tell: @Sendable (AlarmClockEvent) -> Void
    private var waiting: ClockWait
    /// The time at which changed zones are reported: when no further change has come for a moment. An update replaces
    /// hundreds of files, and a link that is set again may be removed first.
    private var quietAt: ContinuousClock.Instant?
    private static let quiet = Duration.milliseconds(250)
    /// The latest time of that report.
    private var quietBy: ContinuousClock.Instant?
    private static let longestUnrest = Duration.seconds(5)

    init(
        alarm: Descriptor, end: WakeUp, zone: FolderWatch, rules: ZoneFilesWatch, waiting: ClockWait,
        tell: @escaping @Sendable (AlarmClockEvent) -> Void
    ) {
        (self.alarm, self.end, self.zone, self.rules, self.tell) = (alarm, end, zone, rules, tell)
        (self.waiting, calls) = (waiting, waiting.calls)
    }

    /// Works until the end is signalled.
    func run() {
        while true {
            waiting.wait(
                for: ([end.descriptor, alarm.number, zone.descriptor] + rules.descriptors).map { ($0, POLLIN) },
                until: quietAt)
            if end.isSignalled { return }
            // A descriptor without data returns at once, so no event is missed where the system refused to wait.
            switch calls.readAlarm(alarm.number) {
            case 1: tell(.rang)
            case -ECANCELED: tell(.wallClockChanged)
            default: break
            }
            lookAtZones()
        }
    }

    private func lookAtZones() {
        let hasMoved = zone.changes() != 0
        if rules.hasChanged() || hasMoved {
            let latest = quietBy ?? .now + Self.longestUnrest
            (quietAt, quietBy) = (min(.now + Self.quiet, latest), latest)
        }
        guard let quietAt, quietAt <= .now else { return }
        (self.quietAt, quietBy) = (nil, nil)
        tell(.zoneChanged)
    }
}
