import PushCore
import Synchronization

/// Durable upstream messages whose confirmation the devices may not have received, from the end of a session to the
/// device's next login. Thread-safe.
///
/// It is bounded and in memory: a message that was removed is sent again by the device, and recognized by its
/// persistent id.
final class UnconfirmedUpstreamNames: Sendable {
    private struct State {
        var current: [DeviceID: [String]] = [:]
        var older: [DeviceID: [String]] = [:]
    }

    /// The minimum number of devices that are kept; the maximum is twice that. With 32 names of 128 bytes each at most,
    /// that is 33 MB.
    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int = 4096) { self.capacity = max(1, capacity) }

    /// Records the unconfirmed messages of a session that ended.
    func record(_ names: [String], of device: DeviceID) {
        guard !names.isEmpty else { return }
        state.withLock { state in
            if state.current.count >= capacity {
                state.older = state.current
                state.current = [:]
            }
            state.current[device] = names
        }
    }

    /// Returns the persistent ids to confirm to a device that logs in, once.
    func take(of device: DeviceID) -> [String] {
        state.withLock { state in
            let older = state.older.removeValue(forKey: device)
            return state.current.removeValue(forKey: device) ?? older ?? []
        }
    }
}
