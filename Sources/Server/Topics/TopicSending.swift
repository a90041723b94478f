import Fanout
import PushModel
import ServerCore
import Synchronization

/// Who sends to topics and conditions; the port of the doors that take such sends.
public protocol TopicSender: Sendable {
    /// Accepts a message for many: stored once, whatever the number of those who are subscribed.
    ///
    /// - Returns: The id under which the broadcast is durable.
    /// - Throws: what the store says when it does not take it: nothing was accepted.
    func send(_ message: TopicMessage, from team: TeamID) async throws -> NotificationID
}

/// A message for the subscribers of topics.
public struct TopicMessage: Sendable {
    /// Who it is for.
    public var target: TopicTarget
    /// The only app whose registrations get it; `nil` for every app of the team.
    public var app: AppID?
    /// The kind of push; `nil` where the sender named none.
    public var pushType: PushType?
    /// The payload, made for the id under which the message will be known.
    public var content: @Sendable (NotificationID) -> PushContent
    /// Until when it reaches those who connect later. ``Expiry/once`` is for those alone who are connected.
    public var expiry: Expiry
    /// How urgent it is.
    public var priority: Priority
    /// At most 64 bytes; on each device it replaces what waits under the same id.
    public var collapseID: String?

    /// Makes a message. The content gets the message's id, for payloads that carry it.
    public init(
        to target: TopicTarget, of app: AppID? = nil, pushType: PushType? = nil, expiry: Expiry = .policyDefault,
        priority: Priority = .immediate, collapseID: String? = nil,
        content: @escaping @Sendable (NotificationID) -> PushContent
    ) {
        self.target = target
        self.app = app
        self.pushType = pushType
        self.content = content
        self.expiry = expiry
        self.priority = priority
        self.collapseID = collapseID
    }
}

/// Whom a message names.
public enum TopicTarget: Hashable, Sendable {
    /// The subscribers of one topic.
    case topic(TopicName)
    /// Those for whom a condition holds, with the text that its sender wrote.
    case condition(TopicCondition, String)

    /// Reads a topic's name.
    ///
    /// - Throws: ``TopicNameFault``
    public static func topic(named name: String) throws(TopicNameFault) -> TopicTarget { .topic(try TopicName(name)) }

    /// Reads a condition.
    ///
    /// - Throws: ``ConditionFault``, which points at the character.
    public static func condition(parsing text: String) throws(ConditionFault) -> TopicTarget {
        .condition(try TopicCondition(parsing: text), text)
    }

    /// The condition that holds for those who are meant.
    var condition: TopicCondition {
        switch self {
        case .topic(let name): TopicCondition(name)
        case .condition(let condition, _): condition
        }
    }

    /// The target as people read it.
    public var text: String {
        switch self {
        case .topic(let name): name.description
        case .condition(_, let written): written
        }
    }
}

/// No id can be made at this moment; the send may be made again.
public struct NoBroadcastID: Error {
    /// An error without details.
    public init() {}
}

/// Stores broadcasts, has them given to who is connected, and takes them back.
public struct Broadcasts: TopicSender, BroadcastWithdrawal {
    private let store: any TopicStore
    private let delivery: any BroadcastDelivery
    private let withdrawal: any NotificationWithdrawal
    /// Waits until the mailboxes decide nothing any more by what they read before.
    private let settled: @Sendable () async throws -> Void
    private let clock: @Sendable () -> Timestamp
    private let withdrawals = Withdrawals()

    /// The broadcasts whose copies are being withdrawn, one round each.
    private final class Withdrawals: Sendable {
        private let rounds = Mutex<[NotificationID: Task<Void, any Error>]>([:])

        /// The round that is under way, else a new one.
        func round(
            of id: NotificationID, _ withdraw: @escaping @Sendable () async throws -> Void
        ) -> Task<Void, any Error> {
            rounds.withLock { rounds in
                if let round = rounds[id] { return round }
                let round = Task {
                    defer { self.rounds.withLock { $0[id] = nil } }
                    try await withdraw()
                }
                rounds[id] = round
                return round
            }
        }
    }

    /// The longest that a broadcast reaches those who connect later: FCM's four weeks.
    static let longestWait = Duration.seconds(28 * 86_400)
    /// For how long the round over those who are connected may take, for what is delivered once or never.
    static let attemptTime = Duration.seconds(60)
    /// How many copies are withdrawn at a time.
    private static let slice = 256

    /// Broadcasts over a store whose mailboxes are this service's.
    public init(store: any TopicStore, mailboxes: MailboxService, clock: @escaping @Sendable () -> Timestamp) {
        self.store = store
        delivery = mailboxes
        withdrawal = mailboxes
        settled = { try await mailboxes.flushNotes() }
        self.clock = clock
    }

    /// Stores the broadcast and has the members that are connected looked at.
    public func send(_ message: TopicMessage, from team: TeamID) async throws -> NotificationID {
        guard let id = delivery.newID() else { throw NoBroadcastID() }
        let now = clock()
        return try await publish(
            BroadcastDraft(
                id: id, team: team, to: .topics(message.target.condition, of: message.app),
                written: message.target.text, pushType: message.pushType, priority: message.priority,
                collapseID: message.collapseID, content: message.content(id), acceptedAt: now,
                expiresAt: expiration(message.expiry, at: now), isAttempt: message.expiry == .once)
        ).id
    }

    /// Has a message reach the registrations of a list: at once those that are connected, the others when they connect.
    ///
    /// - Returns: The broadcast that is durable: the same one for the same ``ListMessage/name``, however often it is sent.
    /// - Throws: what the store says when it does not take it; the same message may be sent again.
    public func send(_ message: ListMessage, from team: TeamID) async throws -> Broadcast {
        guard let id = delivery.newID() else { throw NoBroadcastID() }
        let now = clock()
        return try await publish(
            BroadcastDraft(
                id: id, team: team, name: message.name, to: .list(message.list), written: message.audience,
                pushType: message.pushType, priority: message.priority, collapseID: message.collapseID,
                content: message.content, acceptedAt: now, expiresAt: expiration(message.expiry, at: now),
                isAttempt: message.expiry == .once))
    }

    private func expiration(_ expiry: Expiry, at now: Timestamp) -> Timestamp {
        let longest = now + Self.longestWait
        return switch expiry {
        case .until(let instant): min(instant, longest)
        case .policyDefault: longest
        case .once: now + Self.attemptTime
        }
    }

    private func publish(_ draft: BroadcastDraft) async throws -> Broadcast {
        let broadcast = try await store.insertBroadcast(draft)
        delivery.published(broadcast.audience.entries)
        return broadcast
    }

    /// The copies of a broadcast after one of them, in the order in which they were made.
    public func copies(
        of broadcast: NotificationID, after: NotificationID?, limit: Int
    ) async throws -> [BroadcastCopy] {
        try await store.copies(of: broadcast, after: after, limit: limit)
    }

    /// Waits until the mailboxes decide nothing any more by what they read before.
    public func settle() async throws { try await settled() }

    /// Lets it make no copy any more, waits until nothing is decided by what was read before, and withdraws the copies
    /// behind the answer. What a crash leaves is withdrawn by ``resume()``.
    public func withdrawBroadcast(_ id: NotificationID) async throws -> WithdrawalOutcome {
        guard try await store.withdrawBroadcast(id, at: clock()) else { return .ended }
        try await settled()
        _ = withdrawals.round(of: id) { try await withdrawCopies(of: id) }
        return .withdrawn
    }

    /// Goes on with withdrawals that an earlier run began, or that the store did not take.
    public func resume() async throws {
        for id in try await store.withdrawnBroadcasts() {
            try await withdrawals.round(of: id) { try await withdrawCopies(of: id) }.value
        }
    }

    private func withdrawCopies(of id: NotificationID) async throws {
        var after: NotificationID?
        while true {
            let copies = try await store.copies(of: id, after: after, limit: Self.slice)
            guard let last = copies.last else { break }
            let outcomes = await withTaskGroup(of: WithdrawalOutcome.self) { group in
                for copy in copies {
                    group.addTask {
                        await withCheckedContinuation { continuation in
                            withdrawal.withdraw(copy.id, of: copy.device) { continuation.resume(returning: $0) }
                        }
                    }
                }
                return await group.reduce(into: Set()) { $0.insert($1) }
            }
            // ``resume()`` begins again; what was withdrawn stays as it is.
            guard !outcomes.contains(.failed) else { return }
            after = last.id
        }
        try await store.endWithdrawnBroadcast(id, at: clock())
    }

    /// Goes on with withdrawals, ends what has expired, and forgets what nobody needs any more; call it about once a minute.
    public func sweep(keeping retention: Duration = .seconds(30 * 86_400)) async throws {
        try await resume()
        let now = clock()
        while try await store.endBroadcasts(at: now, keptSince: now + (.zero - retention), limit: 1000) {}
    }
}
