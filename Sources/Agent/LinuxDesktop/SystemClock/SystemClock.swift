import AgentEngine
import CLinux
import Foundation
import Logging
import Platform
import PushCore
import Scheduling
import Synchronization

/// The clocks of this machine.
package final class SystemClock: AlarmClock {
    private let alarm: Descriptor
    /// The end of all threads of this clock.
    private let end: WakeUp
    private let boot: UUID
    private let localtime: String
    private let zoneFolder: String
    private let busAddress: String?
    private let logger: Logger
    private let calls: ClockCalls
    private let events = Mutex<(@Sendable (AlarmClockEvent) -> Void)?>(nil)

    /// Takes a timer of the kernel's; no thread runs before ``start(events:)``.
    ///
    /// - Parameters:
    ///   - localtime: The link to the file of the machine's zone.
    ///   - zoneFolder: The zone files.
    ///   - busAddress: The system bus, which reports the machine's sleep and changes of its zone; `nil` does without,
    ///     and so does a machine that has no bus.
    ///   - logger: Logs when the system refuses to wait.
    /// - Throws: ``SystemClockError`` when the system has no timer left.
    package convenience init(
        localtime: String = "/etc/localtime", zoneFolder: String = "/usr/share/zoneinfo", busAddress: String? = nil,
        logger: Logger = Logger(label: "aldaba.clock")
    ) throws(SystemClockError) {
        try self.init(
            localtime: localtime, zoneFolder: zoneFolder, busAddress: busAddress, logger: logger, calls: ClockCalls())
    }

    init(
        localtime: String = "/etc/localtime", zoneFolder: String = "/usr/share/zoneinfo", busAddress: String? = nil,
        logger: Logger = Logger(label: "aldaba.clock"), calls: ClockCalls
    ) throws(SystemClockError) {
        do {
            alarm = try Descriptor(aldaba_alarm_open(), "timer")
            end = try WakeUp()
        } catch {
            throw SystemClockError(description: error.description)
        }
        (self.localtime, self.zoneFolder, self.busAddress) = (localtime, zoneFolder, busAddress)
        (self.logger, self.calls) = (logger, calls)
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        let id = text.flatMap { UUID(uuidString: $0.trimmingCharacters(in: .whitespacesAndNewlines)) }
        // Without a boot id of the system, each process counts as one boot.
        boot = id ?? UUID()
    }

    /// The clocks as the kernel has them; `sinceBoot` counts while the machine sleeps.
    package func now() -> ClockReading {
        ClockReading(
            wall: Timestamp(rawValue: MachineClock.wall), boot: boot,
            sinceBoot: MachineClock.sinceBoot)
    }

    /// Begins two threads: one for the alarm and the zone, one for the system bus where there is an address.
    package func start(events: @escaping @Sendable (AlarmClockEvent) -> Void) {
        self.events.withLock { $0 = events }
        // A timer that was never set does not report that the clock was.
        arm(nil)
        // From now on, so that a zone that is set after the first look is noticed. Unsafe is safe here: nothing else
        // refers to the two, which are made in this line, and the thread alone uses them, once, from its beginning on.
        nonisolated(unsafe) let watches = (FolderWatch(path: localtime), ZoneFilesWatch(folder: zoneFolder))
        NamedThread.begin("aldaba-clock") { [alarm, end, calls, logger] in
            let waiting = ClockWait(calls, logger)
            let (zone, rules) = watches
            ClockWatch(alarm: alarm, end: end, zone: zone, rules: rules, waiting: waiting, tell: events).run()
        }
        guard let busAddress else { return }
        // A thread of its own: libdbus waits for a bus that takes connections and does not answer, and rings come all
        // the same.
        NamedThread.begin("aldaba-clockbus") { [end, calls, logger] in
            BusWatch(address: busAddress, tell: events).run(until: end, waiting: ClockWait(calls, logger))
        }
    }

    /// Sets the kernel's timer for the wall clock (timerfd_settime(2)); an instant that has passed rings at once.
    package func arm(_ deadline: Timestamp?) {
        // 0 would disable it: a deadline before 1970 is due now.
        let result = calls.setAlarm(alarm.number, deadline.map { max(1, $0.rawValue) } ?? 0)
        // Setting the timer again before the thread has read that the clock was set consumes that report.
        if result == -ECANCELED { events.withLock { $0 }?(.wallClockChanged) }
    }

    /// Ends both threads; nothing is reported any more.
    package func stop() {
        events.withLock { $0 = nil }
        end.signal()
    }
}

/// Why there is no clock.
package struct SystemClockError: Error, Sendable, CustomStringConvertible {
    /// The call that the system refused, and why.
    package var description: String
}
