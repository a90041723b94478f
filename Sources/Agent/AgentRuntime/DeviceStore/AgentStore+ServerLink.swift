import AgentEngine
import AgentProtocol
import PushCore

/// The store as the link to the server uses it.
extension AgentStore: ServerLinkStore, AppRequestStore {
    /// Takes messages of apps to send: the first `limit` after a place in the outbox. Those that were not sent before
    /// are marked as sent, in one commit.
    package func takeUpstream(after place: QueuedUpstream.Place, limit: Int) throws -> [QueuedUpstream] {
        let found = try read { try $0.upstream(after: place, limit: limit) }
        let new = found.filter { !$0.isUnderWay }.map(\.message.sequence)
        if !new.isEmpty { _ = try commit([.upstreamUnderWay(new)]) }
        return found.map(\.message)
    }

    /// The topics that wait, of apps that have device tokens, and each app's token.
    package func pendingTopicChanges(
        after place: TopicChangeRequest.Place, limit: Int, environment: PushEnvironment
    ) throws -> [(request: TopicChangeRequest, token: String)] {
        try read { try $0.pendingTopicChanges(after: place, limit: limit, environment: environment) }
    }

    /// The next request to the server about a channel of UnifiedPush; `nil` where there is none.
    package func pendingChannel() throws -> PendingChannel? {
        try read { try UnifiedPushTables(database: $0.database).pendingChannel() }
    }

    /// A registration of UnifiedPush that has an endpoint; `nil` where there is none.
    package func channelWithEndpoint() throws -> UnifiedPushRegistration? {
        try read { try UnifiedPushTables(database: $0.database).firstWithEndpoint() }
    }

    /// The ids of notifications that are stored here and whose ack the server has not confirmed, ascending.
    package func unconfirmed() throws -> [NotificationID] { try read { try $0.unconfirmed() } }

    /// The receipts that the server has not confirmed: the first `limit` after a place in the outbox.
    package func receipts(after place: OutboxPlace, limit: Int) throws -> [(sequence: OutboxPlace, receipt: Receipt)] {
        try read { try $0.receipts(after: place, limit: limit) }
    }

    /// Whether an app ended its registration in an environment, and has not asked for a new one.
    package func hasEndedRegistration(app: BundleID, environment: PushEnvironment) throws -> Bool {
        try read { try $0.registration(app: app, environment: environment) } == .ended
    }

    /// The team for which an app has its device token; `nil` where it has no token, or the team is not known.
    package func registeredTeam(app: BundleID, environment: PushEnvironment) throws -> TeamID? {
        try read { try $0.registeredTeam(app: app, environment: environment) }
    }
}
