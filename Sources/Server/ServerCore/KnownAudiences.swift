import Fanout
import PushModel
import Synchronization

/// What is known of connected devices' subscriptions and registrations, so that their turn reads nothing of them: a value.
///
/// There is one entry at most for each connected device, of at most ``membershipLimit`` subscriptions and
/// ``registrationLimit`` registrations; a device that has more is read each time.
struct KnownAudiences {
    static let membershipLimit = 64
    static let registrationLimit = 32

    private var audiences: [DeviceID: DeviceAudience] = [:]
    /// The version of the register under which they were read.
    private var version: UInt64?

    /// Nobody is known.
    init() {}

    /// What is known of a device; without broadcasts.
    func audience(of device: DeviceID) -> DeviceAudience? { audiences[device] }

    /// Forgets everybody where the register has changed: apps or devices may have been taken out.
    mutating func follow(register version: UInt64?) {
        guard version != self.version else { return }
        audiences = [:]
        self.version = version
    }

    /// A device was looked at up to a cursor.
    mutating func learn(_ audience: DeviceAudience, of device: DeviceID, cursor: Int64) {
        guard audience.memberships.count <= Self.membershipLimit,
            audience.registrations.count <= Self.registrationLimit
        else { return forget(device) }
        var kept = audience
        kept.cursor = cursor
        kept.broadcasts = []
        kept.lists = []
        if kept.memberships.contains(where: { $0.left != nil }) { kept.memberships.removeAll { $0.left != nil } }
        audiences[device] = kept
    }

    /// Nothing of a device is known any more.
    mutating func forget(_ device: DeviceID) { audiences[device] = nil }
}

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
