import Fanout
import PushModel
import ServerCore

/// Where subscriptions and broadcasts are durable; the port that a store implements.
///
/// Each change is one transaction, synced to the disk when it returns. Joinings, leavings and broadcasts are numbered in
/// the order of their transactions. Copies and cursors are written by the store's one writer of mailboxes
/// (``RowChange/moveCursor(_:to:)``).
public protocol TopicStore: Sendable {
    /// Subscribes registrations to a topic of their team, in the order of the list.
    ///
    /// - Parameter limit: How many topics a registration may have.
    func subscribe(
        _ members: [TopicMember], to topic: TopicName, limit: Int, at now: Timestamp
    ) async throws -> [SubscriptionOutcome]

    /// Ends subscriptions; `true` for each that there was.
    func unsubscribe(_ members: [TopicMember], from topic: TopicName) async throws -> [Bool]

    /// The subscriptions of a registration, by name.
    func subscriptions(of subject: TokenSubject) async throws -> [TopicSubscription]

    /// Stores a broadcast. Its cost does not depend on how many it is for. One whose name is known is the one that is there.
    func insertBroadcast(_ draft: BroadcastDraft) async throws -> Broadcast

    /// Lets a broadcast make no copy any more; `false` when there is none, or it was withdrawn, or has ended.
    func withdrawBroadcast(_ id: NotificationID, at now: Timestamp) async throws -> Bool

    /// The broadcasts that were withdrawn and whose copies may not all have been.
    func withdrawnBroadcasts() async throws -> [NotificationID]

    /// The copies of a broadcast after a notification's id, in the order of their ids, which is that in which they were made.
    func copies(
        of broadcast: NotificationID, after: NotificationID?, limit: Int
    ) async throws -> [BroadcastCopy]

    /// All copies of a withdrawn broadcast were withdrawn.
    func endWithdrawnBroadcast(_ id: NotificationID, at now: Timestamp) async throws

    /// Ends what has expired, and forgets what nobody needs any more: at most `limit` rows of each kind.
    ///
    /// - Parameter keptSince: Broadcasts that were accepted and have expired before go, once they have no copy.
    /// - Returns: Whether more is left to do.
    func endBroadcasts(at now: Timestamp, keptSince: Timestamp, limit: Int) async throws -> Bool
}

/// A registration that joins or leaves, with the team whose topics are meant.
public struct TopicMember: Hashable, Sendable {
    /// The registration.
    public var subject: TokenSubject
    /// The team of its app.
    public var team: TeamID

    /// Names a registration; whether it is active is not checked.
    public init(subject: TokenSubject, team: TeamID) {
        self.subject = subject
        self.team = team
    }
}

/// What became of a subscription.
public enum SubscriptionOutcome: Hashable, Sendable {
    /// It is subscribed now.
    case subscribed
    /// It was subscribed before.
    case known
    /// It has as many topics as it may have.
    case tooManyTopics
    /// The registration has ended.
    case ended
}

/// A topic to which a registration is subscribed.
public struct TopicSubscription: Hashable, Sendable {
    /// The topic.
    public var topic: TopicName
    /// When it was subscribed.
    public var since: Timestamp

    /// Makes a subscription.
    public init(topic: TopicName, since: Timestamp) {
        self.topic = topic
        self.since = since
    }
}

/// A copy of a broadcast: a notification of one registration.
public struct BroadcastCopy: Hashable, Sendable {
    /// The copy's own id; later copies of a broadcast have higher ones.
    public var id: NotificationID
    /// The device for which it was made.
    public var device: DeviceID
    /// The app on it.
    public var place: AppPlace
    /// The generation of the registration.
    public var generation: UInt16

    /// Names a copy.
    public init(id: NotificationID, device: DeviceID, place: AppPlace, generation: UInt16) {
        self.id = id
        self.device = device
        self.place = place
        self.generation = generation
    }
}

/// Whom a broadcast that is to be stored is for.
public enum BroadcastTarget: Hashable, Sendable {
    /// Those for whom a condition over topics of the team holds; of one app alone, where it is named.
    case topics(TopicCondition, of: AppID? = nil)
    /// The registrations of a list.
    case list(RecipientList)

    /// The topics that it names.
    public var topics: Set<TopicName> {
        switch self {
        case .topics(let condition, _): Set(condition.topics)
        case .list: []
        }
    }

    /// The audience, with the numbers that the store has for topics; those without one are nobody's.
    public func audience(_ number: (TopicName) -> TopicNumber?) -> Audience {
        switch self {
        case .topics(let condition, let app): .topics(condition.map { number($0) ?? .nobody }, of: app)
        case .list(let list): .list(list)
        }
    }
}

/// A broadcast that is to be stored.
public struct BroadcastDraft: Hashable, Sendable {
    /// Its id.
    public var id: NotificationID
    /// The team that sends it.
    public var team: TeamID
    /// What names it, so that it is stored once; `nil` where nothing does.
    public var name: String?
    /// Who it is for.
    public var target: BroadcastTarget
    /// Who it is for, as its sender wrote it.
    public var written: String
    /// The kind of push; `nil` where its sender named none.
    public var pushType: PushType?
    /// How urgent it is.
    public var priority: Priority
    /// Its collapse id; `nil` where it replaces nothing.
    public var collapseID: String?
    /// The payload.
    public var content: PushContent
    /// When it is accepted.
    public var acceptedAt: Timestamp
    /// From when on it makes no copy.
    public var expiresAt: Timestamp
    /// Whether it is delivered once or never, to those who are connected.
    public var isAttempt: Bool

    /// Makes a draft of its parts.
    public init(
        id: NotificationID, team: TeamID, name: String? = nil, to target: BroadcastTarget, written: String,
        pushType: PushType? = nil, priority: Priority = .immediate, collapseID: String? = nil, content: PushContent,
        acceptedAt: Timestamp, expiresAt: Timestamp, isAttempt: Bool = false
    ) {
        self.id = id
        self.team = team
        self.name = name
        self.target = target
        self.written = written
        self.pushType = pushType
        self.priority = priority
        self.collapseID = collapseID
        self.content = content
        self.acceptedAt = acceptedAt
        self.expiresAt = expiresAt
        self.isAttempt = isAttempt
    }
}
