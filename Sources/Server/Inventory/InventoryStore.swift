import PushModel
import RegisterCore
import ServerCore

/// Where notifications and devices are listed from; the port that a store implements.
///
/// What a list reads does not grow with what is stored: a slice looks at ``InventoryPage/slice`` rows at most, and says
/// where the next one begins, however few of them it wanted.
package protocol InventoryStore: Sendable {
    /// One slice of the notifications and refused requests, the newest first.
    ///
    /// - Parameters:
    ///   - before: Only those before this id; `nil` for the newest.
    ///   - limit: How many are wanted at most; at least 1.
    func notifications(
        _ filter: NotificationFilter, before: NotificationID?, limit: Int
    ) async throws -> InventoryPage<InventoryNotification, NotificationID>

    /// One slice of the devices, in the order of their ids.
    func devices(
        _ filter: DeviceFilter, after: DeviceID?, limit: Int
    ) async throws -> InventoryPage<InventoryDevice, DeviceID>
}

/// A slice of a list.
package struct InventoryPage<Item: Sendable, Cursor: Sendable>: Sendable {
    /// How many rows a store looks at for one slice.
    package static var slice: Int { 2000 }

    /// Those that were wanted.
    package var items: [Item]
    /// Where the next slice begins; `nil` at the end.
    package var next: Cursor?

    /// A slice of a list.
    package init(items: [Item] = [], next: Cursor? = nil) {
        self.items = items
        self.next = next
    }
}

/// Which notifications are wanted.
package struct NotificationFilter: Sendable, Hashable {
    /// What may be asked of a notification's place in its life.
    package enum State: String, Sendable, CaseIterable {
        /// It waits for its device.
        case waiting
        /// It was accepted, and waits no longer.
        case ended
        /// Its request was refused.
        case refused
    }

    /// Only this team's; `nil` for every team's.
    package var team: TeamID?
    /// Only this app's.
    package var topic: Topic?
    /// Only this device's.
    package var device: DeviceID?
    /// Only those in this state.
    package var state: State?

    /// Wants every notification of a team, or of all.
    package init(team: TeamID? = nil) { self.team = team }

    /// Whether a notification is wanted.
    package func wants(team: TeamID?, topic: Topic?, device: DeviceID?, state: State) -> Bool {
        (self.team == nil || self.team == team) && (self.topic == nil || self.topic == topic)
            && (self.device == nil || self.device == device) && (self.state == nil || self.state == state)
    }
}

/// A notification in the list.
package struct InventoryNotification: Sendable, Hashable {
    /// The notification, with its timeline.
    package var timeline: NotificationTimeline
    /// Where it is in its life.
    package var state: NotificationFilter.State

    /// A notification in the list.
    package init(timeline: NotificationTimeline, state: NotificationFilter.State) {
        self.timeline = timeline
        self.state = state
    }
}

/// Which devices are wanted.
package struct DeviceFilter: Sendable, Hashable {
    /// Whether a device is let in.
    package enum State: String, Sendable, CaseIterable {
        /// It may log in.
        case active
        /// It is kept out for a while.
        case blocked
        /// It is kept out for good.
        case revoked
    }

    /// Only those with a registration of this team's, and of their registrations only those; `nil` for all.
    package var team: TeamID?
    /// Only those with an active registration of this app.
    package var topic: Topic?
    /// Only those in this state.
    package var state: State?

    /// Wants every device of a team, or of all.
    package init(team: TeamID? = nil) { self.team = team }

    /// Whether a device is wanted. Of a revoked one the registrations have ended, so a team does not see it.
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

        /// An app on a device.
        package init(topic: Topic, environment: PushEnvironment) {
            self.topic = topic
            self.environment = environment
        }
    }

    /// The device, and when what happened to it.
    package var device: EnrolledDevice
    /// The active registrations that whoever asks may see, ``placeLimit`` at most, by topic.
    package var registrations: [Place]

    /// How many registrations of a device are listed.
    package static let placeLimit = 100

    /// A device in the list.
    package init(device: EnrolledDevice, registrations: [Place]) {
        self.device = device
        self.registrations = registrations
    }

    /// Whether it is let in.
    package var state: DeviceFilter.State {
        device.revokedAt != nil ? .revoked : device.blockedAt != nil ? .blocked : .active
    }
}
