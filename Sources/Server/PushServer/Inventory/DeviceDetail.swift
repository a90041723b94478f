import FCMProtocol
import PushCore

/// A device with its apps, as the API shows one.
package struct DeviceDetail: Sendable, Hashable {
    /// The device, with the times of its events.
    package var device: EnrolledDevice
    /// The active registrations that the caller may see, ``InventoryDevice/placeLimit`` at most, by topic.
    package var apps: [App]

    /// An app that is registered on the device.
    package struct App: Sendable, Hashable {
        /// The registration.
        package var place: RegistrationKey
        /// The registration's generation, which its device token names.
        package var generation: UInt16
        /// The app's topic.
        package var topic: Topic
        /// The team that owns the app.
        package var team: TeamID
        /// The time at which the registration's newest generation was made.
        package var registeredAt: Timestamp
        /// The number of notifications that wait for the app.
        package var waiting = 0
        /// The notifications that expired or were cleared while the device was away.
        package var missed: [Missed] = []
        /// Whether the app has published a key to which senders encrypt.
        package var hasEncryptionKey = false
        /// The data of a registration by FCM; `nil` where the agent registered the app.
        package var web: WebRegistration?

        /// Creates an app on a device for which nothing waits.
        package init(
            place: RegistrationKey, generation: UInt16, topic: Topic, team: TeamID, registeredAt: Timestamp
        ) {
            self.place = place
            self.generation = generation
            self.topic = topic
            self.team = team
            self.registeredAt = registeredAt
        }
    }

    /// Notifications that the device will not get, and will be told of.
    package struct Missed: Sendable, Hashable {
        /// The reason why the device does not get them.
        package enum Reason: String, Sendable {
            /// They expired while the device was away.
            case expired
            /// They were cleared, since more waited than may.
            case cleared
        }

        /// The reason.
        package var reason: Reason
        /// The lane in which they waited.
        package var lane: Lane
        /// The number of missed notifications.
        package var count: Int
        /// The time at which the first of them ended.
        package var since: Timestamp

        /// Creates a count.
        package init(reason: Reason, lane: Lane, count: Int, since: Timestamp) {
            self.reason = reason
            self.lane = lane
            self.count = count
            self.since = since
        }
    }

    /// Creates a device with its apps.
    package init(device: EnrolledDevice, apps: [App]) {
        self.device = device
        self.apps = apps
    }

    /// The device's state.
    package var state: DeviceFilter.State { InventoryDevice(device: device, registrations: []).state }
}
