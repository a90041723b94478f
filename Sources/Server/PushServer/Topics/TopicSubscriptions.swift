import APNsProtocol
import PushCore

/// Subscribes registrations to topics, for providers and for devices.
package struct TopicSubscriptions: Sendable {
    private let store: any TopicStore
    private let apps: AppDirectory
    private let tokens: TokenDirectory
    private let delivery: MailboxService
    private let onDemand: OnDemandTokens?
    private let clock: @Sendable () -> Timestamp

    /// The maximum number of topics of a registration.
    package static let topicLimit = 2000

    /// Creates an instance from its properties.
    ///
    /// - Parameter onDemand: Adds unknown devices; `nil` where they are refused.
    package init(
        store: any TopicStore, apps: AppDirectory, tokens: TokenDirectory, delivery: MailboxService,
        onDemand: OnDemandTokens? = nil, clock: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.apps = apps
        self.tokens = tokens
        self.delivery = delivery
        self.onDemand = onDemand
        self.clock = clock
    }

    /// The outcome for one registration token of a request.
    package enum Outcome: Hashable, Sendable {
        /// The change was made.
        case done
        /// The registration was in that state before.
        case unchanged
        /// The text is no registration token.
        case invalid
        /// The token is not of this server, or its registration has ended.
        case unregistered
        /// The app belongs to another team.
        case foreign
        /// The registration has the maximum number of topics.
        case tooManyTopics
    }

    /// Subscribes registrations to a topic of the team; returns an outcome for each token, in order.
    ///
    /// - Parameter team: The caller's team; `nil` where it may act for every team: the topic is then that of each
    ///   token's team.
    /// - Throws: An error when the store cannot be read or written; nothing was changed then.
    package func subscribe(_ tokens: [String], to topic: TopicName, team: TeamID?) async throws -> [Outcome] {
        // The store checks in its transaction whether each is active: a thousand tokens need no thousand reads.
        try await change(tokens, team: team, byReading: false) { members in
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

    /// Ends subscriptions; returns an outcome for each token, in order.
    ///
    /// - Throws: An error when the store cannot be read or written; nothing was changed then.
    package func unsubscribe(_ tokens: [String], from topic: TopicName, team: TeamID?) async throws -> [Outcome] {
        try await change(tokens, team: team, byReading: true) { members in
            try await store.unsubscribe(members, from: topic).map { $0 ? .done : .unchanged }
        }
    }

    /// - Parameter byReading: Whether each registration is read to check that it is active.
    private func change(
        _ tokens: [String], team: TeamID?, byReading: Bool, apply: ([TopicMember]) async throws -> [Outcome]
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

    /// The state of a registration token for a caller.
    package enum Found: Sendable {
        /// The registration is active.
        case active(TokenSubject, RegisteredApp)
        /// The token is refused, for this reason.
        case refused(Outcome)
    }

    /// Opens a registration token. A foreign team's token is always reported as such, whatever the state of its
    /// registration.
    package func registration(of text: String, team: TeamID?) async throws -> Found {
        try await registration(of: text, team: team, byReading: true)
    }

    /// - Parameter byReading: Whether one that is not cached is read; otherwise it counts as active.
    private func registration(of text: String, team: TeamID?, byReading: Bool) async throws -> Found {
        if let team, let onDemand, let (subject, app) = try await onDemand.registration(of: text, team: team) {
            guard subject.app == app.id else { return .refused(.foreign) }
            return .active(subject, app)
        }
        guard let token = DeviceToken(text: text) else { return .refused(.invalid) }
        guard let subject = tokens.sealer.open(token) else { return .refused(.unregistered) }
        guard let app = try await apps.find(subject.app) else { return .refused(.unregistered) }
        guard team == nil || app.team == team else { return .refused(.foreign) }
        var resolution = tokens.known(token)
        if case .needsLookUp = resolution { resolution = byReading ? try await tokens.find(token) : .active(subject) }
        guard case .active(let subject) = resolution else { return .refused(.unregistered) }
        return .active(subject, app)
    }

    /// Whether any text is the token of a device on demand.
    package var takesAnyToken: Bool { onDemand != nil }

    /// Whether a name is the project of a team whose accounts are in no register.
    package func isProject(_ name: String, of team: TeamID) -> Bool { onDemand?.isProject(name, of: team) ?? false }

    /// The registration tokens of registrations.
    ///
    /// - Throws: An error when a token cannot be sealed.
    package func tokens(of subjects: [TokenSubject]) throws -> [String] {
        try subjects.map { try tokens.sealer.seal($0).description }
    }

    /// The subject, app and topics of a registration token; `nil` where the token is refused for the caller.
    package func info(
        of token: String, team: TeamID?
    ) async throws -> (subject: TokenSubject, app: RegisteredApp, topics: [TopicSubscription])? {
        guard case .active(let subject, let app) = try await registration(of: token, team: team) else { return nil }
        return (subject, app, try await store.subscriptions(of: subject))
    }
}

extension TopicSubscriptions {
    /// Subscribes an app to a topic of its team, or unsubscribes it. The caller has checked the device's secret.
    ///
    /// - Parameters:
    ///   - name: The topic's name, with or without `/topics/`.
    ///   - token: The app's registration token.
    /// - Throws: An error when the store cannot be read or written; nothing was changed.
    package func setTopicSubscription(
        _ name: String, ofToken token: String, device: DeviceID, isLeaving: Bool
    ) async throws -> DeviceTopicOutcome {
        guard let topic = try? TopicName(name) else { return .invalidTopic }
        guard subject(ofToken: token)?.device == device else {
            return .foreignToken
        }
        return try await setSubscription(to: topic, ofToken: token, isLeaving: isLeaving)
    }

    /// The registration that a token names; `nil` for a text that is no token of this server. Whether it is active is not
    /// checked.
    func subject(ofToken token: String) -> TokenSubject? { DeviceToken(text: token).flatMap(tokens.sealer.open) }

    /// Subscribes an app to a topic of its team, or unsubscribes it. The caller has checked the topic, and that the token is
    /// the device's.
    func setSubscription(to topic: TopicName, ofToken token: String, isLeaving: Bool) async throws -> DeviceTopicOutcome
    {
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
