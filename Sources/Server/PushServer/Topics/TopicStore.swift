import PushCore

/// Durable storage of subscriptions and broadcasts; the port that a store implements.
///
/// Each change is one transaction, synced to the disk when it returns. Subscriptions, unsubscriptions and broadcasts
/// are numbered in the order of their transactions. Copies and cursors are written by the store's one writer of
/// mailboxes (``RowChange/moveCursor(_:to:)``).
package protocol TopicStore: Sendable {
    /// Subscribes registrations to a topic of their team, in the order of the list.
    ///
    /// - Parameter limit: The maximum number of topics of a registration.
    func subscribe(
        _ members: [TopicMember], to topic: TopicName, limit: Int, at now: Timestamp
    ) async throws -> [SubscriptionOutcome]

    /// Ends subscriptions; `true` for each that existed.
    func unsubscribe(_ members: [TopicMember], from topic: TopicName) async throws -> [Bool]

    /// The subscriptions of a registration, by name.
    func subscriptions(of subject: TokenSubject) async throws -> [TopicSubscription]

    /// Stores a broadcast. The cost does not depend on the number of recipients. A known name returns the existing
    /// broadcast.
    func insertBroadcast(_ draft: BroadcastDraft) async throws -> Broadcast

    /// Stops the copies of a broadcast; `false` when there is none, or it was withdrawn, or has ended.
    func withdrawBroadcast(_ id: NotificationID, at now: Timestamp) async throws -> Bool

    /// The withdrawn broadcasts whose copies may not all have been withdrawn.
    func withdrawnBroadcasts() async throws -> [NotificationID]

    /// The copies of a broadcast after a notification's id, in the order of their ids, which is that of their creation.
    func copies(
        of broadcast: NotificationID, after: NotificationID?, limit: Int
    ) async throws -> [BroadcastCopy]

    /// Records that all copies of a withdrawn broadcast were withdrawn.
    func endWithdrawnBroadcast(_ id: NotificationID, at now: Timestamp) async throws

    /// Ends expired broadcasts, and deletes rows that are no longer needed: at most `limit` of each kind.
    ///
    /// - Parameter keptSince: The time before which broadcasts must have been accepted and expired to be deleted, once
    ///   they have no copy.
    /// - Parameter countedSince: The time before which broadcasts must have expired to be counted no more for devices that
    ///   were away.
    /// - Returns: Whether more is left to do.
    func endBroadcasts(at now: Timestamp, keptSince: Timestamp, countedSince: Timestamp, limit: Int) async throws
        -> Bool
}

/// A registration that is subscribed or unsubscribed, with the team of the topics.
package struct TopicMember: Hashable, Sendable {
    /// The registration.
    package var subject: TokenSubject
    /// The team of its app.
    package var team: TeamID

    /// Creates a member; whether the registration is active is not checked.
    package init(subject: TokenSubject, team: TeamID) {
        self.subject = subject
        self.team = team
    }
}

/// The outcome of a subscription.
package enum SubscriptionOutcome: Hashable, Sendable {
    /// The registration is subscribed now.
    case subscribed
    /// The registration was subscribed before.
    case known
    /// The registration has the maximum number of topics.
    case tooManyTopics
    /// The registration has ended.
    case ended
}

/// A topic to which a registration is subscribed.
package struct TopicSubscription: Hashable, Sendable {
    /// The topic.
    package var topic: TopicName
    /// The time at which it was subscribed.
    package var since: Timestamp

    /// Creates a subscription.
    package init(topic: TopicName, since: Timestamp) {
        self.topic = topic
        self.since = since
    }
}

/// A copy of a broadcast: a notification of one registration.
package struct BroadcastCopy: Hashable, Sendable {
    /// The copy's own id; later copies of a broadcast have higher ones.
    package var id: NotificationID
    /// The device for which it was made.
    package var device: DeviceID
    /// The app on it.
    package var place: AppPlace
    /// The generation of the registration.
    package var generation: UInt16

    /// Creates a copy's value.
    package init(id: NotificationID, device: DeviceID, place: AppPlace, generation: UInt16) {
        self.id = id
        self.device = device
        self.place = place
        self.generation = generation
    }
}

/// The audience of a broadcast that is to be stored.
package enum BroadcastTarget: Hashable, Sendable {
    /// The registrations that match a condition over topics of the team; only those of `app`, where it is set.
    case topics(TopicCondition, of: AppID? = nil)
    /// The registrations of a list.
    case list(RecipientList)

    /// The topics in the target.
    package var topics: Set<TopicName> {
        switch self {
        case .topics(let condition, _): Set(condition.topics)
        case .list: []
        }
    }

    /// The audience, with the store's numbers for topics; topics without a number have no subscribers.
    package func audience(_ number: (TopicName) -> TopicNumber?) -> Audience {
        switch self {
        case .topics(let condition, let app): .topics(condition.map { number($0) ?? .nobody }, of: app)
        case .list(let list): .list(list)
        }
    }
}

/// A broadcast that is to be stored.
package struct BroadcastDraft: Hashable, Sendable {
    /// The broadcast's id.
    package var id: NotificationID
    /// The team that sends it.
    package var team: TeamID
    /// The unique name, so that it is stored once; `nil` for none.
    package var name: String?
    /// The audience.
    package var target: BroadcastTarget
    /// The audience, as the sender wrote it.
    package var written: String
    /// The kind of push; `nil` where its sender specified none.
    package var pushType: PushType?
    /// The priority.
    package var priority: Priority
    /// The collapse id; `nil` where it replaces nothing.
    package var collapseID: String?
    /// The payload.
    package var content: PushContent
    /// The time at which it is accepted.
    package var acceptedAt: Timestamp
    /// The time after which it makes no copies.
    package var expiresAt: Timestamp
    /// Whether it is delivered once or never, to connected devices.
    package var isAttempt: Bool

    /// Creates a draft from its parts.
    package init(
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
