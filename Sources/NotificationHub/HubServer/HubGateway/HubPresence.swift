import APNsProtocol
import PushCore
import PushServer
import Synchronization

/// Reports to the hubs when this server's own devices were seen: when they connect and disconnect, and once an hour
/// while connected.
///
/// At most ``mostDevices`` devices are tracked at once; others are reported when they connect the next time.
package final class HubPresence: SessionListener {
    fileprivate struct State {
        /// The time of the last report of each connected device; `nil` for one that has just connected.
        var present: [DeviceID: Timestamp?] = [:]
        /// The devices that have disconnected and were not reported since.
        var gone: Set<DeviceID> = []
    }

    private static let mostDevices = 1_000_000
    /// The number of devices in one read of the register.
    private static let slice = 256
    /// The maximum number of devices reported to the hubs at once.
    fileprivate static let mostAtOnce = 4096
    /// The reporting period of connected devices: an hour, in milliseconds.
    private static let period: Int64 = 3_600_000

    private let register: any RegisterStore
    private let sealer: DeviceTokenSealer
    private let cell: UInt16
    private let clock: @Sendable () -> Timestamp
    private let state = Mutex(State())

    /// Creates a presence without devices.
    ///
    /// - Parameter cell: The cell number in this server's device tokens.
    package init(
        register: any RegisterStore, sealer: DeviceTokenSealer, cell: UInt16 = 0,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.register = register
        self.sealer = sealer
        self.cell = cell
        self.clock = clock
    }

    /// Records a connected device.
    package func opened(_ session: DeviceSessionID, _ connection: any DeviceConnection) {
        state.withLock { state in
            guard state.present.count < Self.mostDevices else { return }
            state.present[session.device] = .some(nil)
        }
    }

    /// Records a device that has disconnected, or has another session.
    package func closed(_ session: DeviceSessionID) {
        state.withLock { state in
            guard state.present.removeValue(forKey: session.device) != nil else { return }
            if state.gone.count < Self.mostDevices { state.gone.insert(session.device) }
        }
    }

    /// Reports to the hubs the devices that connected or disconnected since the last call, or have been connected for
    /// an hour without a report. Also caches their owners in the lists before a send needs them.
    ///
    /// - Returns: Whether there may be more of them.
    /// - Throws: A store's error; the devices are then reported by the next call.
    @discardableResult
    package func reportSeenDevices(_ hubs: NotificationHubs, _ lists: HubLists) async throws -> Bool {
        let now = clock()
        let seen = state.withLock { $0.takeSeen(at: now, since: now.adding(milliseconds: -Self.period)) }
        guard !seen.isEmpty else { return false }
        var told = 0
        do {
            let all = try await hubs.store.hubs()
            while told < seen.count {
                let slice = Array(seen[told..<min(told + Self.slice, seen.count)])
                let subjects = try await register.activeRegistrations(of: slice, cell: cell)
                let tokens = try subjects.flatMap { try sealer.everyToken(of: $0).map(\.description) }
                try await hubs.markSeen(tokens, at: now)
                try lists.learn(subjects, of: all)
                told += slice.count
            }
        } catch {
            state.withLock { $0.restore(seen[told...]) }
            throw error
        }
        return seen.count == Self.mostAtOnce
    }
}

extension HubPresence.State {
    fileprivate mutating func takeSeen(at now: Timestamp, since instant: Timestamp) -> [DeviceID] {
        var seen = Array(gone.prefix(HubPresence.mostAtOnce))
        for device in seen { gone.remove(device) }
        for (device, last) in present where last.map({ $0 <= instant }) ?? true {
            guard seen.count < HubPresence.mostAtOnce else { break }
            seen.append(device)
            present[device] = now
        }
        return seen
    }

    fileprivate mutating func restore(_ devices: ArraySlice<DeviceID>) {
        for device in devices {
            if present[device] == nil { gone.insert(device) } else { present[device] = .some(nil) }
        }
    }
}
