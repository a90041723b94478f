import PushCore
import PushServer

/// The rows of subscriptions and broadcasts: a value. Readers ignore rows of registrations that have ended.
struct TopicTable: Sendable {
    struct Topic: Hashable, Sendable {
        var team: TeamID
        var name: TopicName
    }

    struct Subscription: Sendable {
        var subject: TokenSubject
        var membership: Membership
        var since: Timestamp
    }

    struct StoredBroadcast: Sendable {
        var broadcast: Broadcast
        var draft: BroadcastDraft
        var withdrawnAt: Timestamp?
        var endedAt: Timestamp?
        /// Whether the broadcast makes copies.
        var isOpen: Bool { withdrawnAt == nil && endedAt == nil }
    }

    /// The topics by their numbers, which begin at 1.
    private(set) var topics: [Topic] = []
    private(set) var subscriptions: [DeviceID: [Subscription]] = [:]
    private(set) var broadcasts: [NotificationID: StoredBroadcast] = [:]
    /// The broadcasts that expired, for devices that were away.
    var expired: [ExpiredBroadcast] = []
    private var sequence: Int64 = 0

    /// The payloads of broadcasts that have not ended.
    var openPayloads: Set<PayloadID> {
        Set(broadcasts.values.filter { $0.endedAt == nil }.map { PayloadID(rawValue: $0.draft.id.rawValue) })
    }

    func number(of topic: Topic) -> TopicNumber? {
        topics.firstIndex(of: topic).map { TopicNumber(rawValue: Int64($0) + 1) }
    }

    func name(of number: TopicNumber) -> TopicName? {
        topics.indices.contains(Int(number.rawValue) - 1) ? topics[Int(number.rawValue) - 1].name : nil
    }

    mutating func nextSequence() -> Int64 {
        sequence += 1
        return sequence
    }

    /// The present subscriptions of a registration.
    func subscriptions(of subject: TokenSubject) -> [Subscription] {
        subscriptions[subject.device, default: []].filter { $0.subject == subject && $0.membership.left == nil }
    }

    mutating func subscribe(
        _ member: TopicMember, to name: TopicName, joined: Int64, limit: Int, at now: Timestamp
    ) -> SubscriptionOutcome {
        let topic = Topic(team: member.team, name: name)
        let number: TopicNumber
        if let known = self.number(of: topic) {
            number = known
        } else {
            topics.append(topic)
            number = TopicNumber(rawValue: Int64(topics.count))
        }
        let present = subscriptions(of: member.subject)
        if present.contains(where: { $0.membership.topic == number }) { return .known }
        guard present.count < limit else { return .tooManyTopics }
        let place = AppPlace(app: member.subject.app, environment: member.subject.environment)
        subscriptions[member.subject.device, default: []].append(
            Subscription(
                subject: member.subject,
                membership: Membership(
                    place: place, generation: member.subject.generation, topic: number, joined: joined),
                since: now))
        return .subscribed
    }

    mutating func unsubscribe(_ member: TopicMember, from name: TopicName, left: Int64) -> Bool {
        guard let number = number(of: Topic(team: member.team, name: name)),
            let index = subscriptions[member.subject.device, default: []].firstIndex(where: {
                $0.subject == member.subject && $0.membership.topic == number && $0.membership.left == nil
            })
        else { return false }
        subscriptions[member.subject.device]?[index].membership.left = left
        return true
    }

    func broadcast(named name: String) -> Broadcast? {
        broadcasts.values.first { $0.draft.name == name }?.broadcast
    }

    mutating func insert(_ draft: BroadcastDraft) -> Broadcast {
        let audience = draft.target.audience { number(of: Topic(team: draft.team, name: $0)) }
        let broadcast = Broadcast(
            id: draft.id, sequence: nextSequence(), team: draft.team, audience: audience,
            acceptedAt: draft.acceptedAt, expiresAt: draft.expiresAt, isAttempt: draft.isAttempt)
        broadcasts[draft.id] = StoredBroadcast(broadcast: broadcast, draft: draft)
        return broadcast
    }

    mutating func withdraw(_ id: NotificationID, at now: Timestamp) -> Bool {
        guard broadcasts[id]?.withdrawnAt == nil, broadcasts[id] != nil else { return false }
        broadcasts[id]?.withdrawnAt = now
        broadcasts[id]?.endedAt = nil
        return true
    }

    mutating func end(_ id: NotificationID, at now: Timestamp) { broadcasts[id]?.endedAt = now }

    mutating func forget(_ ids: [NotificationID]) { for id in ids { broadcasts[id] = nil } }

    /// Deletes the subscriptions that ended before every open broadcast.
    mutating func forgetPast() {
        let first = broadcasts.values.filter(\.isOpen).map(\.broadcast.sequence).min() ?? .max
        for (device, kept) in subscriptions {
            subscriptions[device] = kept.filter { $0.membership.left.map { $0 >= first } ?? true }
        }
    }
}
