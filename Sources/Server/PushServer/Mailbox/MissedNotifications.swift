import PushCore

/// How many notifications of one app, environment and lane expired while their device was away.
///
/// They are reported to the device, as a tombstone, if it comes back after a longer absence than a month.
package struct MissedNotifications: Hashable, Sendable {
    /// The app whose notifications expired.
    package var app: AppID
    /// The environment of the app's registration.
    package var environment: PushEnvironment
    /// The lane in which they were queued.
    package var lane: Lane
    /// How many expired.
    package var count: Int
    /// The time at which the first of them did.
    package var since: Timestamp

    /// Creates a count. Each parameter is the property of its name.
    package init(app: AppID, environment: PushEnvironment, lane: Lane, count: Int, since: Timestamp) {
        self.app = app
        self.environment = environment
        self.lane = lane
        self.count = count
        self.since = since
    }

    /// Whether both are of the same app, environment and lane.
    package func isBeside(_ other: MissedNotifications) -> Bool {
        app == other.app && environment == other.environment && lane == other.lane
    }
}

extension [MissedNotifications] {
    /// Adds a count to that of the same app, environment and lane. The earlier time counts.
    package mutating func add(_ missed: MissedNotifications) {
        guard let index = firstIndex(where: missed.isBeside) else { return append(missed) }
        self[index].count += missed.count
        self[index].since = Swift.min(self[index].since, missed.since)
    }
}
