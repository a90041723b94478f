import APNsWire
import Hub
import PushModel
import RegisterCore
import ServerCore
import Synchronization

/// Tells the hubs when this server's own devices were seen: when they connect and go, and once an hour while they are there.
///
/// Of ``mostDevices`` devices at once it is told at most; of others when they connect the next time.
package final class HubPresence: SessionListener {
    fileprivate struct State {
        /// When those that are there were told of last; `nil` for those that have just come.
        var present: [DeviceID: Timestamp?] = [:]
        /// Those that have gone and were not told of since.
        var gone: Set<DeviceID> = []
    }

    private static let mostDevices = 1_000_000
    /// Devices in one look at the register.
    private static let slice = 256
    /// Devices of which the hubs are told at once, at most.
    fileprivate static let mostAtOnce = 4096
    /// An hour, in milliseconds.
    private static let period: Int64 = 3_600_000

    private let register: any RegisterStore
    private let sealer: DeviceTokenSealer
    private let cell: UInt16
    private let clock: @Sendable () -> Timestamp
    private let state = Mutex(State())

    /// Nobody has been seen.
    ///
    /// - Parameter cell: The cell that this server's device tokens name.
    package init(
        register: any RegisterStore, sealer: DeviceTokenSealer, cell: UInt16 = 0,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.register = register
        self.sealer = sealer
        self.cell = cell
        self.clock = clock
    }

    /// A device is there.
    package func opened(_ session: DeviceSessionID, _ connection: any DeviceConnection) {
        state.withLock { state in
            guard state.present.count < Self.mostDevices else { return }
            state.present[session.device] = .some(nil)
        }
    }

    /// A device has gone, or has another session.
    package func closed(_ session: DeviceSessionID) {
        state.withLock { state in
            guard state.present.removeValue(forKey: session.device) != nil else { return }
            if state.gone.count < Self.mostDevices { state.gone.insert(session.device) }
        }
    }

    /// Tells the hubs of those who came or went since the last time, or are there for an hour without a word, and has the lists
    /// know whose they are before a send asks.
    ///
    /// - Returns: Whether there may be more of them.
    /// - Throws: What a store says; those are told of the next time.
    @discardableResult
    package func tell(_ hubs: NotificationHubs, _ lists: HubLists) async throws -> Bool {
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
                try await hubs.see(tokens, at: now)
                try lists.learn(subjects, of: all)
                told += slice.count
            }
        } catch {
            state.withLock { $0.putBack(seen[told...]) }
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

    fileprivate mutating func putBack(_ devices: ArraySlice<DeviceID>) {
        for device in devices {
            if present[device] == nil { gone.insert(device) } else { present[device] = .some(nil) }
        }
    }
}
