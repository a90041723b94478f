import AgentCore
import CLinux
import Foundation
import LocalSchedule
import Synchronization

/// The clocks of this machine.
public final class SystemClock: AlarmClock {
    private let alarm: Descriptor
    private let end: Descriptor
    private let boot: UUID
    private let localtime: String
    private let busAddress: String?
    private let events = Mutex<(@Sendable (AlarmClockEvent) -> Void)?>(nil)

    /// - Parameters:
    ///   - localtime: The link that says in which zone the machine is.
    ///   - busAddress: The system bus, on which the machine's sleep and its zone are told of; `nil` does without, and so does
    ///     a machine where there is none.
    /// - Throws: ``SystemClockFailure`` when the system has no timer left.
    public init(localtime: String = "/etc/localtime", busAddress: String? = nil) throws(SystemClockFailure) {
        alarm = try Descriptor(aldaba_alarm_open(), "timer")
        end = try Descriptor(aldaba_wake_up_open(), "counter")
        self.localtime = localtime
        self.busAddress = busAddress
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        let id = text.flatMap { UUID(uuidString: $0.trimmingCharacters(in: .whitespacesAndNewlines)) }
        // Where the system does not say which start this is, each process counts as one.
        boot = id ?? UUID()
    }

    public func now() -> Moment {
        Moment(
            wall: Instant(milliseconds: aldaba_clock_read(aldaba_clock_wall)), boot: boot,
            sinceBoot: aldaba_clock_read(aldaba_clock_boot))
    }

    public func start(events: @escaping @Sendable (AlarmClockEvent) -> Void) {
        self.events.withLock { $0 = events }
        let thread = Thread { [alarm, end, localtime, busAddress] in
            let bus = busAddress.map { BusWatch(address: $0, tell: events) }
            ClockWatch(alarm: alarm, end: end, zone: FolderWatch(path: localtime), bus: bus, tell: events).run()
        }
        thread.name = "aldaba-clock"
        thread.start()
    }

    public func arm(_ deadline: Instant?) {
        // 0 would turn it off: what is due since 1970 is due now.
        let result = aldaba_alarm_set(alarm.number, deadline.map { max(1, $0.milliseconds) } ?? 0)
        // Who arms it anew before the thread has read that the clock was set takes that word from it.
        if result != 0, errno == ECANCELED { events.withLock { $0 }?(.wallClockChanged) }
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

    /// Makes a counter readable.
    func signal() {
        var one: UInt64 = 1
        _ = write(number, &one, MemoryLayout<UInt64>.size)
    }
}
