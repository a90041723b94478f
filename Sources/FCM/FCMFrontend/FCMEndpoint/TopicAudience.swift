import FCMProtocol
import PushCore
import PushServer

/// Sends FCM's messages to topics and conditions.
package struct TopicAudience: AudienceSender {
    private let sender: Broadcasts
    private let clock: @Sendable () -> Timestamp

    /// Creates a sender that uses the topics' own port.
    package init(_ sender: Broadcasts, clock: @escaping @Sendable () -> Timestamp) {
        self.sender = sender
        self.clock = clock
    }

    /// Stores the message once, for the present subscribers.
    package func send(
        _ message: FCMMessage, of app: AppID?, team: TeamID, isDryRun: Bool
    ) async throws -> NotificationID? {
        let target: TopicTarget
        let topic: String?
        do {
            switch message.target {
            case .topic(let name): (target, topic) = (try .topic(named: name), name)
            case .condition(let text): (target, topic) = (try .condition(parsing: text), nil)
            case .token, .fid:
                throw FCMRejection.invalid("message", "it names a device, and neither a topic nor a condition")
            }
        } catch let fault as TopicNameError {
            throw FCMRejection.invalid("message.topic", "\(fault)")
        } catch let fault as ConditionError {
            throw FCMRejection.invalid("message.condition", "\(fault)")
        }
        let content = try message.content()
        let delivery = FCMDelivery(message, isShown: content.isShown, now: clock())
        guard !isDryRun else { return nil }
        return try await sender.send(
            TopicMessage(
                to: target, of: app, pushType: delivery.pushType, expiry: delivery.expiry,
                priority: delivery.priority, collapseID: delivery.collapseID
            ) { id in
                .fcm(content.bytes(team: team, delivery: delivery, topic: topic, id: id, readers: .anybody))
            }, from: team)
    }
}

/// The access check for topics: a service account by its access token, or a provider by its own.
package struct TopicAccess: ProjectAuthentication {
    private let accounts: FCMAccess
    private let providers: ProviderAccess

    /// Creates a check for both kinds of credentials.
    package init(accounts: FCMAccess, providers: ProviderAccess) {
        self.accounts = accounts
        self.providers = providers
    }

    /// The team of a credential of either kind. A refusal describes its fault as an access token.
    package func team(authorization: String?) async throws -> TeamID? {
        do { return try await accounts.account(authorization).team } catch let refusal as FCMRejection {
            do { return try await providers.team(authorization) } catch is ControlError {
                throw ControlError.notAuthorized(refusal.message)
            }
        }
    }
}
