import PushModel
import Synchronization

/// The devices whose subscriptions or registrations are being changed: what is known of them may be wrong. Thread-safe.
///
/// A change is told before it is durable, and ends once whoever decides has forgotten what was before.
final class ChangingAudiences: Sendable {
    private let changes = Mutex<[DeviceID: Int]>([:])

    /// Changes of these devices begin.
    func began(_ devices: [DeviceID]) {
        changes.withLock { changes in
            for device in devices { changes[device, default: 0] += 1 }
        }
    }

    /// As many changes of these devices have ended.
    func ended(_ devices: [DeviceID]) {
        changes.withLock { changes in
            for device in devices {
                guard let count = changes[device] else { continue }
                changes[device] = count > 1 ? count - 1 : nil
            }
        }
    }

    /// Those of the devices that are being changed.
    func among(_ devices: some Sequence<DeviceID>) -> Set<DeviceID> {
        changes.withLock { changes in changes.isEmpty ? [] : Set(devices.filter { changes[$0] != nil }) }
    }
}
