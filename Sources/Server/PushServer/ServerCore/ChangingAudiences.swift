import PushCore
import Synchronization

/// The devices whose subscriptions or registrations are being changed: their cached audiences may be outdated.
/// Thread-safe.
///
/// A change is announced before it is durable, and ends once the service has discarded the previous state.
final class ChangingAudiences: Sendable {
    private let changes = Mutex<[DeviceID: Int]>([:])

    /// Records the beginning of a change of these devices.
    func beginChange(of devices: [DeviceID]) {
        changes.withLock { changes in
            for device in devices { changes[device, default: 0] += 1 }
        }
    }

    /// Records the end of a change of each of these devices.
    func endChange(of devices: [DeviceID]) {
        changes.withLock { changes in
            for device in devices {
                guard let count = changes[device] else { continue }
                changes[device] = count > 1 ? count - 1 : nil
            }
        }
    }

    /// The subset of the devices that are being changed.
    func among(_ devices: some Sequence<DeviceID>) -> Set<DeviceID> {
        changes.withLock { changes in changes.isEmpty ? [] : Set(devices.filter { changes[$0] != nil }) }
    }
}
