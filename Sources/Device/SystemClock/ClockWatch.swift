import AgentCore
import CLinux
import Foundation
import MessageBus

/// The thread's own: waits for the timer, the zone, the system bus and the end.
final class ClockWatch {
    private let alarm: Descriptor
    private let end: Descriptor
    private let zone: ZoneWatch
    private let bus: BusWatch?
    private let tell: @Sendable (AlarmClockEvent) -> Void

    /// - Parameter bus: `nil` hears nothing over the system bus.
    init(
        alarm: Descriptor, end: Descriptor, zone: ZoneWatch, bus: BusWatch?,
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
            if descriptors[2].revents != 0, zone.hasChanged() { tell(.zoneChanged) }
            bus?.work()
        }
    }

    private func readAlarm() -> AlarmClockEvent? {
        var expirations: UInt64 = 0
        if read(alarm.number, &expirations, MemoryLayout<UInt64>.size) > 0 { return .rang }
        return errno == ECANCELED ? .wallClockChanged : nil
    }
}

/// The thread's own: notices when the machine's zone is another.
final class ZoneWatch {
    /// To be polled; -1 where the system gives none: then zones count that are new when the agent starts.
    let descriptor: Int32
    private let localtime: String
    /// The files that matter, by the folder's watch.
    private var names: [Int32: Set<String>] = [:]

    init(localtime: String) {
        self.localtime = localtime
        descriptor = aldaba_watch_open()
        watch()
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Reads what happened; whether any of it may have changed the zone.
    func hasChanged() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        var isChanged = false
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            if buffer.withUnsafeBytes({ matters($0.prefix(count)) }) { isChanged = true }
        }
        // The link may lead to another folder now.
        if isChanged { watch() }
        return isChanged
    }

    /// `struct inotify_event`: watch, mask, cookie and length, 32 bits each, and the name.
    private func matters(_ events: Slice<UnsafeRawBufferPointer>) -> Bool {
        let bytes = UnsafeRawBufferPointer(rebasing: events)
        var place = 0
        while place + 16 <= bytes.count {
            let watch = bytes.loadUnaligned(fromByteOffset: place, as: Int32.self)
            let mask = bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)
            let length = Int(bytes.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self))
            guard place + 16 + length <= bytes.count else { return true }
            let name = bytes[(place + 16)..<(place + 16 + length)].prefix { $0 != 0 }
            // What was lost may have been it.
            if mask & UInt32(IN_Q_OVERFLOW) != 0 { return true }
            if names[watch]?.contains(String(decoding: name, as: UTF8.self)) == true { return true }
            place += 16 + length
        }
        return false
    }

    /// The folders of the link and of each file that it leads to.
    private func watch() {
        guard descriptor >= 0 else { return }
        names = [:]
        var path = localtime
        // As many links as the kernel follows.
        for _ in 0..<40 {
            let url = URL(fileURLWithPath: path)
            let folder = url.deletingLastPathComponent().path
            let number = aldaba_watch_add(descriptor, folder)
            if number >= 0 { names[number, default: []].insert(url.lastPathComponent) }
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { return }
            path = target.hasPrefix("/") ? target : "\(folder)/\(target)"
        }
    }
}
