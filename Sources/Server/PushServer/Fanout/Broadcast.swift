import PushCore

/// The target audience of a broadcast. A store keeps it as ``text``.
package enum Audience: Hashable, Sendable {
    /// The registrations of the team for which a condition over its topics holds; of one app alone, where it is named.
    case topics(Condition<TopicNumber>, of: AppID? = nil)
    /// The registrations of a list that is kept elsewhere.
    case list(RecipientList)

    /// The audience as a store keeps it.
    package var text: String {
        switch self {
        case .topics(let condition, let app): (app.map { "app \($0) " } ?? "") + "topics " + condition.text
        case .list(let list): "list \(list.number) \(list.place.app) \(list.place.environment.rawValue)"
        }
    }

    /// Reads what ``text`` wrote; `nil` for anything else.
    package init?(text: String) {
        if text.hasPrefix("topics "), let condition = Condition<TopicNumber>(text: String(text.dropFirst(7))) {
            self = .topics(condition)
            return
        }
        let named = text.split(separator: " ", maxSplits: 3)
        if named.count == 4, named[0] == "app", let app = UInt32(named[1]), named[2] == "topics",
            let condition = Condition<TopicNumber>(text: String(named[3]))
        {
            self = .topics(condition, of: AppID(rawValue: app))
            return
        }
        let words = text.split(separator: " ")
        guard words.count == 4, words[0] == "list", let number = Int64(words[1]), let app = UInt32(words[2]),
            let environment = PushEnvironment(rawValue: String(words[3]))
        else { return nil }
        self = .list(
            RecipientList(number: number, place: AppPlace(app: AppID(rawValue: app), environment: environment)))
    }

    /// The topics under which the broadcast is found: every member of the audience is in one of them.
    package var entries: [TopicNumber] {
        switch self {
        case .topics(let condition, _):
            condition.holdsForNone ? [.everyone] : condition.topics.filter { $0 != .nobody }
        case .list: [.everyone]
        }
    }

    /// Whether a device that left a topic since the broadcast may seem to be in the audience now.
    package var dependsOnLeaving: Bool {
        switch self {
        case .topics(let condition, _): condition.steps.contains(.not)
        case .list: false
        }
    }
}

/// A list of one app's registrations, recorded by its sender at one moment. Whether a registration has left since is
/// checked when the broadcast reaches it.
package struct RecipientList: Hashable, Sendable {
    /// The list's number, which its owner never uses again.
    package var number: Int64
    /// The app of its registrations, and their environment.
    package var place: AppPlace

    /// Names a list.
    package init(number: Int64, place: AppPlace) {
        self.number = number
        self.place = place
    }
}

/// The properties of a broadcast that the engine needs.
package struct Broadcast: Hashable, Sendable {
    /// The id by which its sender knows it.
    package var id: NotificationID
    /// The broadcast's position in the sequence of all joinings, leavings and broadcasts of the store.
    package var sequence: Int64
    /// The team that sent it.
    package var team: TeamID
    /// The target audience.
    package var audience: Audience
    /// When it was accepted.
    package var acceptedAt: Timestamp
    /// The instant from which on it makes no more copies.
    package var expiresAt: Timestamp
    /// Whether it is for connected devices alone, and is delivered once or never.
    package var isAttempt: Bool

    /// The list that it is for; `nil` where it is for topics.
    package var list: RecipientList? {
        if case .list(let list) = audience { list } else { nil }
    }

    /// Creates an instance from its properties.
    package init(
        id: NotificationID, sequence: Int64, team: TeamID, audience: Audience, acceptedAt: Timestamp,
        expiresAt: Timestamp, isAttempt: Bool = false
    ) {
        self.id = id
        self.sequence = sequence
        self.team = team
        self.audience = audience
        self.acceptedAt = acceptedAt
        self.expiresAt = expiresAt
        self.isAttempt = isAttempt
    }
}

/// A broadcast that expired, of which devices that were away are told.
package struct ExpiredBroadcast: Hashable, Sendable {
    /// The broadcast.
    package var broadcast: Broadcast
    /// The lane of its content.
    package var lane: Lane

    /// Creates an instance from its properties.
    package init(_ broadcast: Broadcast, lane: Lane) {
        self.broadcast = broadcast
        self.lane = lane
    }
}

/// An app on one device, in one environment.
package struct AppPlace: Hashable, Sendable {
    /// The app.
    package var app: AppID
    /// The environment of its registration.
    package var environment: PushEnvironment

    /// Names an app of a device.
    package init(app: AppID, environment: PushEnvironment) {
        self.app = app
        self.environment = environment
    }
}

/// An active registration of a device.
package struct FanoutRegistration: Hashable, Sendable {
    /// The app, and its environment.
    package var place: AppPlace
    /// The registration's generation.
    package var generation: UInt16
    /// The team of the app.
    package var team: TeamID
    /// When it was made.
    package var registeredAt: Timestamp

    /// Creates an instance from its properties.
    package init(place: AppPlace, generation: UInt16, team: TeamID, registeredAt: Timestamp) {
        self.place = place
        self.generation = generation
        self.team = team
        self.registeredAt = registeredAt
    }
}

/// A time in which an app of a device was subscribed to a topic.
package struct Membership: Hashable, Sendable {
    /// The app, and its environment.
    package var place: AppPlace
    /// The generation of the registration that subscribed.
    package var generation: UInt16
    /// The topic.
    package var topic: TopicNumber
    /// The sequence number of the joining.
    package var joined: Int64
    /// The sequence number of the leaving; `nil` while it lasts.
    package var left: Int64?

    /// Creates an instance from its properties.
    package init(place: AppPlace, generation: UInt16, topic: TopicNumber, joined: Int64, left: Int64? = nil) {
        self.place = place
        self.generation = generation
        self.topic = topic
        self.joined = joined
        self.left = left
    }
}

/// The stored state of one device and its broadcasts.
package struct DeviceAudience: Hashable, Sendable {
    /// The sequence number up to which everything was examined for the device.
    package var cursor: Int64
    /// The device's subscriptions; those that ended only where ``broadcasts`` are there.
    package var memberships: [Membership]
    /// The device's active registrations, where ``broadcasts`` or ``expired`` are there.
    package var registrations: [FanoutRegistration]
    /// The broadcasts beyond the cursor that may concern the device, in their order; only the first ones.
    package var broadcasts: [NotificationID]
    /// The lists of the ``broadcasts`` that contain the device's registration; `nil` where that is not known.
    package var lists: Set<Int64>? = []

    /// The broadcasts for the device's topics that expired while it was away, by their end; only the first ones.
    package var expired: [ExpiredBroadcast] = []

    /// Makes what is known of a device.
    package init(
        cursor: Int64 = 0, memberships: [Membership] = [], registrations: [FanoutRegistration] = [],
        broadcasts: [NotificationID] = []
    ) {
        self.cursor = cursor
        self.memberships = memberships
        self.registrations = registrations
        self.broadcasts = broadcasts
    }

    /// The topics in which the device is.
    package var topics: Set<TopicNumber> { Set(memberships.lazy.filter { $0.left == nil }.map(\.topic)) }

    /// How many broadcasts a store reads for a device at once.
    package static let broadcastLimit = 64
    /// How many expired broadcasts of a topic a store reads for a device that was away.
    package static let expiredLimit = 1000
}
