import AgentProtocol
import PushCore
import Scheduling

/// The store as ``AgentEngine`` reads it; a port. Each function throws when the store cannot be read.
package protocol AgentEngineStore {
    // MARK: Notifications
    /// The first `limit` notifications queued for an app after a given place in its queue.
    func waiting(app: BundleID, after place: WaitingNotification.Place, limit: Int) throws -> [WaitingNotification]
    /// The responses that wait for an app after this place: the first `limit`.
    func waitingResponses(app: BundleID, after place: WaitingResponse.Place, limit: Int) throws -> [WaitingResponse]
    /// A notification; `nil` for one that is not here.
    func notification(_ id: NotificationID) throws -> WaitingNotification?
    /// Whether its app has not handled a notification.
    func isUnhandled(_ id: NotificationID) throws -> Bool
    /// Whether a notification has come before.
    func isKnown(_ id: NotificationID) throws -> Bool
    /// Whether something waits that wakes an app.
    func hasWaking(app: BundleID) throws -> Bool
    /// The oldest intents to present.
    func wanted(limit: Int) throws -> [WaitingNotification]
    /// The notifications that are on the screen, or may still appear on it.
    func visible(limit: Int) throws -> [WaitingNotification]
    /// The list of an app, the newest `limit`.
    func listed(app: BundleID, limit: Int) throws -> [WaitingNotification]

    // MARK: Requests
    /// The requests of an app that wait; `nil` for those of all apps.
    func pending(app: BundleID?) throws -> [PendingRequest]
    /// The request of a key; `nil` where it waits no longer.
    func pending(key: RequestKey) throws -> PendingRequest?
    /// The keys of all requests that wait.
    func pendingKeys() throws -> Set<RequestKey>
    /// The requests of a run of an app that are done.
    func done(app: BundleID, run: String) throws -> Set<Int64>

    // MARK: The direct channel
    /// The data messages that wait for an app after this place: the first `limit`.
    func waitingData(app: BundleID, after place: DataMessage.Place, limit: Int, at: Timestamp) throws -> [DataMessage]
    /// The deletions on the server that are to be reported to an app.
    func deletions(app: BundleID) throws -> [Deletion]
    /// The messages of an app that have ended.
    func endedUpstream(app: BundleID) throws -> [EndedUpstream]
    /// When the next data message, or message of an app, expires.
    func nextExpiry() throws -> Timestamp?

    // MARK: UnifiedPush
    /// The first message that waits for an app of UnifiedPush; `nil` where none waits.
    func nextPushMessage(service: String, at: Timestamp) throws -> UnifiedPushMessage?

    // MARK: Apps
    /// The stored settings and state of an app's notifications.
    func record(of app: BundleID) throws -> AppNotificationRecord
    /// The stored state of an app's registration.
    func registration(app: BundleID, environment: PushEnvironment) throws -> Registration
    /// The apps that have device tokens, or had, with their teams.
    func registeredApps(environment: PushEnvironment) throws -> [(app: BundleID, team: TeamID?)]
    /// The apps of which the store knows.
    func knownApps() throws -> Set<BundleID>
    /// The questions that an earlier run left on the screen.
    func questions() throws -> [(app: BundleID, handle: String)]
    /// The keys with which an app's payloads are opened.
    func encryptionKeys(app: BundleID, environment: PushEnvironment) throws -> [RecipientPrivateKey]
    /// The notification that brought an encrypted message; `nil` where none has.
    func opener(of fingerprint: [UInt8]) throws -> NotificationID?
}
