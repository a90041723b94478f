import PushCore

/// Listing of notifications and devices; the port that a store implements.
///
/// The cost of a list does not grow with the number of stored rows. A slice reads at most ``InventoryPage/slice`` rows,
/// and returns where the next one begins, however few of them matched.
package protocol InventoryStore: Sendable {
    /// Reads a slice of the notifications and refused requests, the newest first.
    ///
    /// - Parameters:
    ///   - before: The id before which the slice begins; `nil` for the newest.
    ///   - limit: The maximum number of items; at least 1.
    func notifications(
        _ filter: NotificationFilter, before: NotificationID?, limit: Int
    ) async throws -> InventoryPage<InventoryNotification, NotificationID>

    /// Reads what a notification contains; `nil` where there is none, and for a refused request.
    func content(of id: NotificationID) async throws -> NotificationContent?

    /// Reads a slice of the devices, in the order of their ids.
    func devices(
        _ filter: DeviceFilter, after: DeviceID?, limit: Int
    ) async throws -> InventoryPage<InventoryDevice, DeviceID>

    /// Reads a device with its apps and what waits for them.
    ///
    /// - Parameter team: The team whose registrations are read; `nil` for every team's.
    /// - Returns: `nil` where there is no such device, or the team has no registration on it.
    func device(_ device: DeviceID, team: TeamID?) async throws -> DeviceDetail?
}

/// A slice of a list.
package struct InventoryPage<Item: Sendable, Cursor: Sendable>: Sendable {
    /// The number of rows that a store reads for one slice.
    package static var slice: Int { 2000 }

    /// The items that match the filter.
    package var items: [Item]
    /// The cursor at which the next slice begins; `nil` at the end.
    package var next: Cursor?

    /// Creates a slice of a list.
    package init(items: [Item] = [], next: Cursor? = nil) {
        self.items = items
        self.next = next
    }
}

/// A filter of notifications.
package struct NotificationFilter: Sendable, Hashable {
    /// The states of notifications that a filter distinguishes.
    package enum State: String, Sendable, CaseIterable {
        /// The notification is queued for its device.
        case waiting
        /// The notification was accepted, and is queued no longer.
        case ended
        /// The request was refused.
        case refused
    }

    /// The team of the notifications; `nil` for every team's.
    package var team: TeamID?
    /// The topic of the app; `nil` for every app.
    package var topic: Topic?
    /// The device; `nil` for every device.
    package var device: DeviceID?
    /// The state; `nil` for every state.
    package var state: State?
    /// A part of a state's text, such as `BadDeviceToken` or `suppressed`, in any case; `nil` for every one.
    package var reason: String?
    /// A part of any text of the payload, in any case; `nil` for every payload.
    package var text: String?
    /// The instant from which notifications count, by their ids; `nil` for the first.
    package var from: Timestamp?
    /// The instant before which notifications count, by their ids; `nil` for the last.
    package var to: Timestamp?

    /// Creates a filter that selects every notification of a team, or of all.
    package init(team: TeamID? = nil) { self.team = team }

    /// Whether a notification matches.
    package func wants(team: TeamID?, topic: Topic?, device: DeviceID?, state: State) -> Bool {
        (self.team == nil || self.team == team) && (self.topic == nil || self.topic == topic)
            && (self.device == nil || self.device == device) && (self.state == nil || self.state == state)
    }

    /// Whether a notification that ``wants(team:topic:device:state:)`` accepts matches by its timeline and its payload.
    package func wants(_ notification: InventoryNotification) -> Bool {
        if let reason {
            let part = reason.lowercased()
            guard notification.timeline.entries.contains(where: { $0.state.text.lowercased().contains(part) }) else {
                return false
            }
        }
        guard let text else { return true }
        return notification.content?.contains(text.lowercased()) ?? false
    }

    /// The ids of the notifications that the times and a cursor allow.
    package func ids(before cursor: NotificationID?) -> Range<Int64> {
        func floor(_ instant: Timestamp) -> Int64 {
            NotificationIDGenerator(node: 0, highWater: 0).floor(at: instant)
        }
        let end = min(cursor?.rawValue ?? .max, to.map(floor) ?? .max)
        return min(from.map(floor) ?? 0, end)..<end
    }
}

/// A notification in the list.
package struct InventoryNotification: Sendable, Hashable {
    /// The notification, with its timeline.
    package var timeline: NotificationTimeline
    /// The notification's state.
    package var state: NotificationFilter.State
    /// The content; `nil` for a refused request.
    package var content: NotificationContent?

    /// Creates a notification in the list.
    package init(
        timeline: NotificationTimeline, state: NotificationFilter.State, content: NotificationContent? = nil
    ) {
        self.timeline = timeline
        self.state = state
        self.content = content
    }
}

/// A filter of devices.
package struct DeviceFilter: Sendable, Hashable {
    /// The states of devices that a filter distinguishes.
    package enum State: String, Sendable, CaseIterable {
        /// The device may log in.
        case active
        /// The device is blocked.
        case blocked
        /// The device is revoked for good.
        case revoked
    }

    /// The team whose registrations the devices must have, and to which the listed registrations belong; `nil` for all.
    package var team: TeamID?
    /// The topic of an app that must have an active registration; `nil` for every app.
    package var topic: Topic?
    /// The state; `nil` for every state.
    package var state: State?

    /// Creates a filter that selects every device of a team, or of all.
    package init(team: TeamID? = nil) { self.team = team }

    /// Whether a device matches. The registrations of a revoked one have ended, so a team does not see it.
    package func wants(_ device: InventoryDevice) -> Bool {
        (state == nil || state == device.state)
            && (topic == nil || device.registrations.contains { $0.topic == topic })
            && (team == nil || !device.registrations.isEmpty)
    }
}

/// A device in the list.
package struct InventoryDevice: Sendable, Hashable {
    /// An app that is registered on a device.
    package struct Place: Sendable, Hashable {
        /// The app.
        package var topic: Topic
        /// The environment of the registration.
        package var environment: PushEnvironment

        /// Creates an app on a device.
        package init(topic: Topic, environment: PushEnvironment) {
            self.topic = topic
            self.environment = environment
        }
    }

    /// The device, with the times of its events.
    package var device: EnrolledDevice
    /// The active registrations that the caller may see, ``placeLimit`` at most, by topic.
    package var registrations: [Place]

    /// The maximum number of listed registrations of a device.
    package static let placeLimit = 100

    /// Creates a device in the list.
    package init(device: EnrolledDevice, registrations: [Place]) {
        self.device = device
        self.registrations = registrations
    }

    /// The device's state.
    package var state: DeviceFilter.State {
        device.revokedAt != nil ? .revoked : device.blockedAt != nil ? .blocked : .active
    }
}
