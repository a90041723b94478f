import AgentEngine
import AgentProtocol
import PushCore
import Scheduling

/// The store as the agent's engine reads it.
extension AgentStore: AgentEngineStore {
    /// The first `limit` notifications queued for an app after a given place in its queue.
    package func waiting(app: BundleID, after place: WaitingNotification.Place, limit: Int) throws
        -> [WaitingNotification]
    {
        try read { try $0.waiting(app: app, after: place, limit: limit) }
    }
    /// The responses that wait for an app after this place: the first `limit`.
    package func waitingResponses(app: BundleID, after place: WaitingResponse.Place, limit: Int) throws
        -> [WaitingResponse]
    {
        try read { try $0.waitingResponses(app: app, after: place, limit: limit) }
    }
    /// A notification; `nil` for one that is not here.
    package func notification(_ id: NotificationID) throws -> WaitingNotification? {
        try read { try $0.notification(id) }
    }
    /// The Live Activities of all apps; those of a later version, which cannot be decoded, are left out.
    package func liveActivities() throws -> [LiveActivityRecord] {
        try read { try $0.liveActivities() }
    }
    /// Whether its app has not handled a notification.
    package func isUnhandled(_ id: NotificationID) throws -> Bool { try read { try $0.isUnhandled(id) } }
    /// Whether a notification has come before.
    package func isKnown(_ id: NotificationID) throws -> Bool { try read { try $0.isKnown(id) } }
    /// Whether something waits that wakes an app.
    package func hasWaking(app: BundleID) throws -> Bool { try read { try $0.hasWaking(app: app) } }
    /// The oldest intents to present.
    package func wanted(limit: Int) throws -> [WaitingNotification] { try read { try $0.wanted(limit: limit) } }
    /// The notifications that are on the screen, or may still appear on it.
    package func visible(limit: Int) throws -> [WaitingNotification] { try read { try $0.visible(limit: limit) } }
    /// The list of an app, the newest `limit`.
    package func listed(app: BundleID, limit: Int) throws -> [WaitingNotification] {
        try read { try $0.listed(app: app, limit: limit) }
    }

    /// The requests of an app that wait; `nil` for those of all apps.
    package func pending(app: BundleID?) throws -> [PendingRequest] { try read { try $0.pending(app: app) } }
    /// The request of a key; `nil` where it waits no longer.
    package func pending(key: RequestKey) throws -> PendingRequest? { try read { try $0.pending(key: key) } }
    /// The keys of all requests that wait.
    package func pendingKeys() throws -> Set<RequestKey> { try read { try $0.pendingKeys() } }
    /// The requests of a run of an app that are done.
    package func done(app: BundleID, run: String) throws -> Set<Int64> { try read { try $0.done(app: app, run: run) } }

    /// The data messages that wait for an app after this place: the first `limit`.
    package func waitingData(
        app: BundleID, after place: DataMessage.Place, limit: Int, at now: Timestamp
    ) throws -> [DataMessage] {
        try read { try $0.waitingData(app: app, after: place, limit: limit, at: now) }
    }
    /// The deletions on the server that are to be reported to an app.
    package func deletions(app: BundleID) throws -> [Deletion] { try read { try $0.deletions(app: app) } }
    /// The messages of an app that have ended.
    package func endedUpstream(app: BundleID) throws -> [EndedUpstream] { try read { try $0.endedUpstream(app: app) } }
    /// When the next data message, or message of an app, expires.
    package func nextExpiry() throws -> Timestamp? {
        try read { reader in
            let push = UnifiedPushTables(database: reader.database)
            return [try reader.nextDataExpiry(), try reader.nextUpstreamExpiry(), try push.nextExpiry()]
                .compactMap(\.self).min()
        }
    }

    /// The first message that waits for an app of UnifiedPush; `nil` where none waits.
    package func nextPushMessage(service: String, at now: Timestamp) throws -> UnifiedPushMessage? {
        try read { try UnifiedPushTables(database: $0.database).nextMessage(service: service, at: now) }
    }

    /// The registrations of apps by UnifiedPush, and the number of messages that wait for each.
    package func pushRegistrations() throws -> [(registration: UnifiedPushRegistration, waiting: Int)] {
        try read { reader in
            let tables = UnifiedPushTables(database: reader.database)
            let waiting = try tables.waiting()
            return try tables.registrations().map { ($0, waiting[$0.token] ?? 0) }
        }
    }

    /// The stored settings and state of an app's notifications.
    package func record(of app: BundleID) throws -> AppNotificationRecord { try read { try $0.standing(app: app) } }
    /// The stored state of an app's registration.
    package func registration(app: BundleID, environment: PushEnvironment) throws -> Registration {
        try read { try $0.registration(app: app, environment: environment) }
    }
    /// The apps that have device tokens, or had, with their teams.
    package func registeredApps(environment: PushEnvironment) throws -> [(app: BundleID, team: TeamID?)] {
        try read { try $0.registeredApps(environment: environment) }
    }
    /// The apps of which the store knows.
    package func knownApps() throws -> Set<BundleID> { try read { try $0.knownApps() } }
    /// The questions that an earlier run left on the screen.
    package func questions() throws -> [(app: BundleID, handle: String)] { try read { try $0.questions() } }
    /// The keys with which an app's payloads are opened.
    package func encryptionKeys(app: BundleID, environment: PushEnvironment) throws -> [RecipientPrivateKey] {
        try read { try $0.encryptionKeys(app: app, environment: environment) }
    }
    /// The notification that brought an encrypted message; `nil` where none has.
    package func opener(of fingerprint: [UInt8]) throws -> NotificationID? {
        try read { try $0.opener(of: fingerprint) }
    }
}
