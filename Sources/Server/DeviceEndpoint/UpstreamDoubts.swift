import PushModel
import Synchronization

/// What devices sent upstream that is durable, and of which they may not know that, from the end of a session to the device's
/// next login. Thread-safe.
///
/// It is bounded and in memory: what is forgotten is sent again by the device, and known by its name.
final class UpstreamDoubts: Sendable {
    private struct State {
        var current: [DeviceID: [String]] = [:]
        var older: [DeviceID: [String]] = [:]
    }

    /// Of how many devices at least it is known; of up to twice as many. With 32 names of 128 bytes each at most, that is 33 MB.
    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int = 4096) { self.capacity = max(1, capacity) }

    /// A device's session ended.
    func note(_ names: [String], of device: DeviceID) {
        guard !names.isEmpty else { return }
        state.withLock { state in
            if state.current.count >= capacity {
                state.older = state.current
                state.current = [:]
            }
            state.current[device] = names
        }
    }

    /// What a device that logs in is to be told, once.
    func take(of device: DeviceID) -> [String] {
        state.withLock { state in
            let older = state.older.removeValue(forKey: device)
            return state.current.removeValue(forKey: device) ?? older ?? []
        }
    }
}
