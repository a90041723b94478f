import AgentCore
import CLinux
import Foundation
import MessageBus

/// The thread's own: waits for the timer, the zone, the system bus and the end.
final class ClockWatch {
    private let alarm: Descriptor
    private let end: Descriptor
    private let zone: FolderWatch
    private let bus: BusWatch?
    private let tell: @Sendable (AlarmClockEvent) -> Void

    /// - Parameter bus: `nil` hears nothing over the system bus.
    init(
        alarm: Descriptor, end: Descriptor, zone: FolderWatch, bus: BusWatch?,
        tell: @escaping @Sendable (AlarmClockEvent) -> Void
    ) {
        self.alarm = alarm
        self.end = end
        self.zone = zone
        self.bus = bus
        self.tell = tell
    }

    /// Works until the end is signalled.
    func run() {
        while true {
            var descriptors = [end.number, alarm.number, zone.descriptor].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            let events = bus?.hasMessagesToSend == true ? Int16(POLLIN) | Int16(POLLOUT) : Int16(POLLIN)
            descriptors.append(pollfd(fd: bus?.descriptor ?? -1, events: events, revents: 0))
            guard Pause.poll(&descriptors, until: bus?.deadline) else { return }
            if descriptors[0].revents != 0 { return }
            if descriptors[1].revents != 0, let event = readAlarm() { tell(event) }
            if descriptors[2].revents != 0, zone.changes() != 0 { tell(.zoneChanged) }
            bus?.work()
        }
    }

    private func readAlarm() -> AlarmClockEvent? {
        var expirations: UInt64 = 0
        if read(alarm.number, &expirations, MemoryLayout<UInt64>.size) > 0 { return .rang }
        return errno == ECANCELED ? .wallClockChanged : nil
    }
}
