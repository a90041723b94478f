import AgentCore
import CLinux
import DevicePorts
import Foundation
import LocalSchedule
import Logging
import Synchronization

/// The clocks of this machine.
public final class SystemClock: AlarmClock {
    private let alarm: Descriptor
    private let end: ClockEnd
    private let boot: UUID
    private let localtime: String
    private let zoneFolder: String
    private let busAddress: String?
    private let logger: Logger
    private let calls: ClockCalls
    private let events = Mutex<(@Sendable (AlarmClockEvent) -> Void)?>(nil)

    /// - Parameters:
    ///   - localtime: The link that says in which zone the machine is.
    ///   - zoneFolder: The zone files.
    ///   - busAddress: The system bus, on which the machine's sleep and its zone are told of; `nil` does without, and so does
    ///     a machine where there is none.
    ///   - logger: Hears of a system that refuses to wait.
    /// - Throws: ``SystemClockFailure`` when the system has no timer left.
    public convenience init(
        localtime: String = "/etc/localtime", zoneFolder: String = "/usr/share/zoneinfo", busAddress: String? = nil,
        logger: Logger = Logger(label: "aldaba.clock")
    ) throws(SystemClockFailure) {
        try self.init(
            localtime: localtime, zoneFolder: zoneFolder, busAddress: busAddress, logger: logger, calls: ClockCalls())
    }

    init(
        localtime: String = "/etc/localtime", zoneFolder: String = "/usr/share/zoneinfo", busAddress: String? = nil,
        logger: Logger = Logger(label: "aldaba.clock"), calls: ClockCalls
    ) throws(SystemClockFailure) {
        alarm = try Descriptor(aldaba_alarm_open(), "timer")
        end = try ClockEnd()
        (self.localtime, self.zoneFolder, self.busAddress) = (localtime, zoneFolder, busAddress)
        (self.logger, self.calls) = (logger, calls)
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        let id = text.flatMap { UUID(uuidString: $0.trimmingCharacters(in: .whitespacesAndNewlines)) }
        // Where the system does not say which start this is, each process counts as one.
        boot = id ?? UUID()
    }

    public func now() -> ClockReading {
        ClockReading(
            wall: Instant(milliseconds: aldaba_clock_read(aldaba_clock_wall)), boot: boot,
            sinceBoot: aldaba_clock_read(aldaba_clock_boot))
    }

    public func start(events: @escaping @Sendable (AlarmClockEvent) -> Void) {
        self.events.withLock { $0 = events }
        // A timer that was never set does not tell that the clock was.
        arm(nil)
        // From now on, so that a zone that is set after the first look is noticed. Unsafe is safe here: nothing else refers to the two,
        // which are made in this line, and the thread alone uses them, once, from its beginning on.
        nonisolated(unsafe) let watches = (FolderWatch(path: localtime), ZoneFilesWatch(folder: zoneFolder))
        OwnThread.begin("aldaba-clock") { [alarm, end, calls, logger] in
            let waiting = ClockWait(calls, logger)
            let (zone, rules) = watches
            ClockWatch(alarm: alarm, end: end, zone: zone, rules: rules, waiting: waiting, tell: events).run()
        }
        guard let busAddress else { return }
        // A thread of its own: libdbus waits for a bus that takes connections and does not answer, and rings come all the same.
        OwnThread.begin("aldaba-clockbus") { [end, calls, logger] in
            BusWatch(address: busAddress, tell: events).run(until: end, waiting: ClockWait(calls, logger))
        }
    }

    public func arm(_ deadline: Instant?) {
        // 0 would turn it off: what is due since 1970 is due now.
        let result = calls.setAlarm(alarm.number, deadline.map { max(1, $0.milliseconds) } ?? 0)
        // Who arms it anew before the thread has read that the clock was set takes that word from it.
        if result == -ECANCELED { events.withLock { $0 }?(.wallClockChanged) }
    }

    public func stop() {
        events.withLock { $0 = nil }
        end.signal()
    }
}

/// Why there is no clock.
public struct SystemClockFailure: Error, Sendable, CustomStringConvertible {
    /// What the system refused, and why.
    public var description: String
}

/// A descriptor that is closed with the last who has it.
final class Descriptor: Sendable {
    let number: Int32

    init(_ number: Int32, _ name: String) throws(SystemClockFailure) {
        guard number >= 0 else {
            throw SystemClockFailure(description: "the system gives no \(name): \(String(cString: strerror(errno)))")
        }
        self.number = number
    }

    deinit { close(number) }
}

/// The end of all threads of a clock.
final class ClockEnd: Sendable {
    private let counter: Descriptor
    private let state = Atomic(false)

    init() throws(SystemClockFailure) { counter = try Descriptor(aldaba_wake_up_open(), "counter") }

    /// Readable from the end on.
    var descriptor: Int32 { counter.number }
    var isSignalled: Bool { state.load(ordering: .acquiring) }

    func signal() {
        state.store(true, ordering: .releasing)
        var one: UInt64 = 1
        _ = write(counter.number, &one, MemoryLayout<UInt64>.size)
    }
}
