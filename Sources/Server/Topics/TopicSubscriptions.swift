import APNsWire
import Fanout
import PushModel
import RegisterCore
import ServerCore

/// Subscribes registrations to topics, for providers and for devices.
public struct TopicSubscriptions: Sendable {
    private let store: any TopicStore
    private let apps: AppDirectory
    private let tokens: TokenDirectory
    private let delivery: any BroadcastDelivery
    private let clock: @Sendable () -> Timestamp

    /// How many topics a registration may have.
    package static let topicLimit = 2000

    /// Brings the parts together.
    public init(
        store: any TopicStore, apps: AppDirectory, tokens: TokenDirectory, delivery: any BroadcastDelivery,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.apps = apps
        self.tokens = tokens
        self.delivery = delivery
        self.clock = clock
    }

    /// What became of one registration token of a request.
    public enum Outcome: Hashable, Sendable {
        /// It is as was asked for.
        case done
        /// It was so before.
        case unchanged
        /// The text is no registration token.
        case invalid
        /// It is none of this server, or its registration has ended.
        case unregistered
        /// Its app is another team's.
        case foreign
        /// It has as many topics as it may have.
        case tooManyTopics
    }

    /// Subscribes registrations to a topic of the team; in order, one outcome for each token.
    ///
    /// - Parameter team: `nil` where whoever asks may act for every team: the topic is that of each token's team.
    /// - Throws: when the store cannot be read or written; nothing was changed then.
    public func subscribe(_ tokens: [String], to topic: TopicName, team: TeamID?) async throws -> [Outcome] {
        // The store looks in its transaction whether each is active: a thousand tokens cost no thousand readings.
        try await change(tokens, team, byReading: false) { members in
            try await store.subscribe(members, to: topic, limit: Self.topicLimit, at: clock()).map { outcome in
                switch outcome {
                case .subscribed: .done
                case .known: .unchanged
                case .tooManyTopics: .tooManyTopics
                case .ended: .unregistered
                }
            }
        }
    }

    /// Ends subscriptions; in order, one outcome for each token.
    ///
    /// - Throws: when the store cannot be read or written; nothing was changed then.
    public func unsubscribe(_ tokens: [String], from topic: TopicName, team: TeamID?) async throws -> [Outcome] {
        try await change(tokens, team, byReading: true) { members in
            try await store.unsubscribe(members, from: topic).map { $0 ? .done : .unchanged }
        }
    }

    /// - Parameter byReading: Whether it is read of each registration that it is active.
    private func change(
        _ tokens: [String], _ team: TeamID?, byReading: Bool, _ apply: ([TopicMember]) async throws -> [Outcome]
    ) async throws -> [Outcome] {
        var outcomes: [Outcome] = []
        var members: [(place: Int, member: TopicMember)] = []
        for (place, token) in tokens.enumerated() {
            switch try await registration(of: token, team: team, byReading: byReading) {
            case .active(let subject, let app):
                members.append((place, TopicMember(subject: subject, team: app.team)))
                outcomes.append(.unregistered)
            case .refused(let outcome): outcomes.append(outcome)
            }
        }
        guard !members.isEmpty else { return outcomes }
        let devices = members.map(\.member.subject.device)
        let changed = try await delivery.changeSubscriptions(of: devices) { try await apply(members.map(\.member)) }
        for (entry, outcome) in zip(members, changed) { outcomes[entry.place] = outcome }
        return outcomes
    }

    /// What a registration token is worth to somebody who asks.
    package enum Found: Sendable {
        /// Its registration is active.
        case active(TokenSubject, RegisteredApp)
        /// It is worth nothing to them, for this reason.
        case refused(Outcome)
    }

    /// Opens a registration token. A foreign team's token is said to be that, whatever became of its registration.
    package func registration(of text: String, team: TeamID?) async throws -> Found {
        try await registration(of: text, team: team, byReading: true)
    }

    /// - Parameter byReading: Whether one of which memory knows nothing is read; else it counts as active.
    private func registration(of text: String, team: TeamID?, byReading: Bool) async throws -> Found {
        guard let token = DeviceToken(text: text) else { return .refused(.invalid) }
        guard let subject = tokens.sealer.open(token) else { return .refused(.unregistered) }
        guard let app = try await apps.find(subject.app) else { return .refused(.unregistered) }
        guard team == nil || app.team == team else { return .refused(.foreign) }
        var resolution = tokens.known(token)
        if case .needsLookUp = resolution { resolution = byReading ? try await tokens.find(token) : .active(subject) }
        guard case .active(let subject) = resolution else { return .refused(.unregistered) }
        return .active(subject, app)
    }

    /// What is known of a registration; `nil` with the reason where there is none for whoever asks.
    package func info(
        of token: String, team: TeamID?
    ) async throws -> (subject: TokenSubject, app: RegisteredApp, topics: [TopicSubscription])? {
        guard case .active(let subject, let app) = try await registration(of: token, team: team) else { return nil }
        return (subject, app, try await store.subscriptions(of: subject))
    }
}

extension TopicSubscriptions: DeviceTopics {
    /// Subscribes an app of a device that has proven itself; its token must be the device's own.
    public func changeTopic(
        _ name: String, ofToken token: String, device: DeviceID, isLeaving: Bool
    ) async throws -> DeviceTopicOutcome {
        guard let topic = try? TopicName(name) else { return .invalidTopic }
        guard let opened = DeviceToken(text: token).flatMap(tokens.sealer.open), opened.device == device else {
            return .foreignToken
        }
        let outcomes =
            isLeaving
            ? try await unsubscribe([token], from: topic, team: nil)
            : try await subscribe([token], to: topic, team: nil)
        return switch outcomes.first {
        case .done, .unchanged: .done
        case .tooManyTopics: .tooManyTopics
        default: .foreignToken
        }
    }
}
