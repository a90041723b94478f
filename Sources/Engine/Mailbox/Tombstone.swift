import PushModel

extension Mailbox {
    /// What is left of notifications that a full lane was cleared of: the device is to be told of it.
    ///
    /// There is one at most for each app, environment and lane. One that takes the place of an earlier one keeps its
    /// ``since`` and counts what that one counted too, also while the earlier one is in flight.
    public struct Tombstone: Hashable, Sendable {
        /// Its place in the device's order, and the name under which the device acknowledges it.
        public var id: NotificationID
        /// The app whose notifications were cleared.
        public var app: AppID
        /// The environment of the app's registration.
        public var environment: PushEnvironment
        /// The lane that was cleared.
        public var lane: Lane
        /// How many were cleared.
        public var count: Int
        /// When the first of them were.
        public var since: Timestamp

        /// Makes what is left of a cleared lane.
        public init(
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
