import PushModel

/// Who a broadcast is for. A store keeps it as ``text``.
public enum Audience: Hashable, Sendable {
    /// The registrations of the team for which a condition over its topics holds; of one app alone, where it is named.
    case topics(Condition<TopicNumber>, of: AppID? = nil)
    /// The registrations of a list that somebody else keeps.
    case list(RecipientList)

    /// The audience as a store keeps it.
    public var text: String {
        switch self {
        case .topics(let condition, let app): (app.map { "app \($0) " } ?? "") + "topics " + condition.text
        case .list(let list): "list \(list.number) \(list.place.app) \(list.place.environment.rawValue)"
        }
    }

    /// Reads what ``text`` wrote; `nil` for anything else.
    public init?(text: String) {
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

    /// The topics under which the broadcast is found: whoever is in the audience is in one of them.
    public var entries: [TopicNumber] {
        switch self {
        case .topics(let condition, _):
            condition.holdsForNone ? [.everyone] : condition.topics.filter { $0 != .nobody }
        case .list: [.everyone]
        }
    }

    /// Whether somebody who left a topic since the broadcast may look as if they were in now.
    public var dependsOnLeaving: Bool {
        switch self {
        case .topics(let condition, _): condition.steps.contains(.not)
        case .list: false
        }
    }
}

/// Registrations of one app, written down by whoever sends to them: those who were in at one moment. Who of them has left
/// since is asked when the turn of each comes.
public struct RecipientList: Hashable, Sendable {
    /// Its number, which its keeper never gives again.
    public var number: Int64
    /// The app of its registrations, and their environment.
    public var place: AppPlace

    /// Names a list.
    public init(number: Int64, place: AppPlace) {
        self.number = number
        self.place = place
    }
}

/// What the engine has to know of a broadcast.
public struct Broadcast: Hashable, Sendable {
    /// The id by which its sender knows it.
    public var id: NotificationID
    /// Its place among all joinings, leavings and broadcasts of the store.
    public var sequence: Int64
    /// The team that sent it.
    public var team: TeamID
    /// Who it is for.
    public var audience: Audience
    /// When it was accepted.
    public var acceptedAt: Timestamp
    /// From this instant on it makes no copy any more.
    public var expiresAt: Timestamp
    /// Whether it is for those alone who are connected, and is delivered once or never.
    public var isAttempt: Bool

    /// The list that it is for; `nil` where it is for topics.
    public var list: RecipientList? {
        if case .list(let list) = audience { list } else { nil }
    }

    /// Makes a broadcast of its parts.
    public init(
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

/// An app on one device, in one environment.
public struct AppPlace: Hashable, Sendable {
    /// The app.
    public var app: AppID
    /// The environment of its registration.
    public var environment: PushEnvironment

    /// Names an app of a device.
    public init(app: AppID, environment: PushEnvironment) {
        self.app = app
        self.environment = environment
    }
}

/// An active registration of a device.
public struct FanoutRegistration: Hashable, Sendable {
    /// The app, and its environment.
    public var place: AppPlace
    /// The registration's generation.
    public var generation: UInt16
    /// The team of the app.
    public var team: TeamID
    /// When it was made.
    public var registeredAt: Timestamp

    /// Makes a registration of its parts.
    public init(place: AppPlace, generation: UInt16, team: TeamID, registeredAt: Timestamp) {
        self.place = place
        self.generation = generation
        self.team = team
        self.registeredAt = registeredAt
    }
}

/// A time in which an app of a device was subscribed to a topic.
public struct Membership: Hashable, Sendable {
    /// The app, and its environment.
    public var place: AppPlace
    /// The generation of the registration that subscribed.
    public var generation: UInt16
    /// The topic.
    public var topic: TopicNumber
    /// The sequence number of the joining.
    public var joined: Int64
    /// The sequence number of the leaving; `nil` while it lasts.
    public var left: Int64?

    /// Makes a membership of its parts.
    public init(place: AppPlace, generation: UInt16, topic: TopicNumber, joined: Int64, left: Int64? = nil) {
        self.place = place
        self.generation = generation
        self.topic = topic
        self.joined = joined
        self.left = left
    }
}

/// What a store holds of one device and its broadcasts.
public struct DeviceAudience: Hashable, Sendable {
    /// What was looked at for the device: everything up to this sequence number.
    public var cursor: Int64
    /// The device's subscriptions; those that ended only where ``broadcasts`` are there.
    public var memberships: [Membership]
    /// The device's active registrations, where ``broadcasts`` are there.
    public var registrations: [FanoutRegistration]
    /// The broadcasts beyond the cursor that may concern the device, in their order; only the first ones.
    public var broadcasts: [NotificationID]
    /// Those of the ``broadcasts``' lists in which the device's registration is; `nil` where that is not known.
    public var lists: Set<Int64>? = []

    /// Makes what is known of a device.
    public init(
        cursor: Int64 = 0, memberships: [Membership] = [], registrations: [FanoutRegistration] = [],
        broadcasts: [NotificationID] = []
    ) {
        self.cursor = cursor
        self.memberships = memberships
        self.registrations = registrations
        self.broadcasts = broadcasts
    }

    /// The topics in which the device is.
    public var topics: Set<TopicNumber> { Set(memberships.lazy.filter { $0.left == nil }.map(\.topic)) }

    /// How many broadcasts a store reads for a device at once.
    public static let broadcastLimit = 64
}
