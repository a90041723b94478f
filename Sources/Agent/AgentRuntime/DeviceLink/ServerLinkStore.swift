import AgentEngine
import AgentProtocol
import PushCore

/// The state of a link in the store. Used on the link's event loop only.
package protocol ServerLinkStore: Sendable {
    /// Keeps this device's id and secret.
    func save(_ identity: DeviceIdentity) throws
    /// Forgets the identity and everything that belongs to it: tokens, receipts, and what the server has not confirmed.
    func forgetIdentity() throws
    /// The notifications that are stored here and not yet confirmed to the server, in order.
    func unconfirmed() throws -> [NotificationID]
    /// Receipts that the server has not confirmed, with their places in the outbox.
    func receipts(after place: OutboxPlace, limit: Int) throws -> [(sequence: OutboxPlace, receipt: Receipt)]
    /// Whether an app ended its registration, and has not asked for a new one.
    func hasEndedRegistration(app: BundleID, environment: PushEnvironment) throws -> Bool
    /// The team for which the server gave the app a token; `nil` where it has no token, or the team is not known.
    func registeredTeam(app: BundleID, environment: PushEnvironment) throws -> TeamID?
    /// Keeps an app's registration; without a token when the app ended it.
    func save(_ token: String?, app: BundleID, team: TeamID, environment: PushEnvironment) throws
    /// Forgets an app's registration, which the server has forgotten.
    func forgetRegistration(app: BundleID, environment: PushEnvironment) throws
}
