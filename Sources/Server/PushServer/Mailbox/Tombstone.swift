import PushCore

extension Mailbox {
    /// A record of notifications that were cleared from a full lane, to be reported to the device.
    ///
    /// There is at most one for each app, environment and lane. A tombstone that replaces an earlier one keeps its
    /// ``since`` and adds its count, also while the earlier one is in flight.
    package struct Tombstone: Hashable, Sendable {
        /// The tombstone's position in the device's queue, and the id under which the device acknowledges it.
        package var id: NotificationID
        /// The app whose notifications were cleared.
        package var app: AppID
        /// The environment of the app's registration.
        package var environment: PushEnvironment
        /// The lane that was cleared.
        package var lane: Lane
        /// How many were cleared.
        package var count: Int
        /// When the first of them were.
        package var since: Timestamp

        /// Makes what is left of a cleared lane.
        package init(
            id: NotificationID, app: AppID, environment: PushEnvironment, lane: Lane, count: Int, since: Timestamp
        ) {
            self.id = id
            self.app = app
            self.environment = environment
            self.lane = lane
            self.count = count
            self.since = since
        }

        func isOf(_ name: AppQueue.Name) -> Bool {
            app == name.app && environment == name.environment && lane == name.lane
        }
    }
}
