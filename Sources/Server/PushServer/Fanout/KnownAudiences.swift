import PushCore

/// A cache of connected devices' subscriptions and registrations, so that a fan-out reads none of them from the store.
/// A value.
///
/// There is at most one entry for each connected device, with at most ``membershipLimit`` subscriptions and
/// ``registrationLimit`` registrations. A device that has more is read each time.
package struct KnownAudiences: Sendable {
    /// How many subscriptions are kept of a device.
    package static let membershipLimit = 64
    /// How many registrations are kept of a device.
    package static let registrationLimit = 32

    private var audiences: [DeviceID: DeviceAudience] = [:]
    /// The version of the register under which they were read.
    private var version: UInt64?

    /// An empty cache.
    package init() {}

    /// The cached audience of a device, without broadcasts.
    package func audience(of device: DeviceID) -> DeviceAudience? { audiences[device] }

    /// Forgets everybody where the register has changed: apps or devices may have been taken out.
    package mutating func follow(register version: UInt64?) {
        guard version != self.version else { return }
        audiences = [:]
        self.version = version
    }

    /// A device was looked at up to a cursor.
    package mutating func learn(_ audience: DeviceAudience, of device: DeviceID, cursor: Int64) {
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
    package mutating func forget(_ device: DeviceID) { audiences[device] = nil }
}
