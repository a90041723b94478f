import Mailbox
import PushModel

/// Where apps, provider keys, devices and registrations are durable; the port that a store implements.
public protocol RegisterStore: Sendable {
    /// Another number after every change of apps, provider keys and revocations, whichever process made it.
    ///
    /// Read on every request, so it costs no more than memory.
    var registerVersion: UInt64 { get }

    /// The apps that were not removed.
    func apps() async throws -> [RegisteredApp]

    /// Adds an app. - Throws: ``RegisterError`` when the topic is taken.
    func addApp(topic: Topic, team: TeamID, policy: MailboxPolicy, at now: Timestamp) async throws -> RegisteredApp

    /// Takes an app out: its registrations end. Its topic stays its team's, which may add it again.
    ///
    /// - Returns: The app; `nil` when there is none of that topic.
    func removeApp(topic: Topic, at now: Timestamp) async throws -> RegisteredApp?

    /// The keys that were not revoked.
    func providerKeys() async throws -> [ProviderKey]

    /// Adds a provider's public key. - Throws: ``RegisterError`` when the key id is taken.
    func addProviderKey(_ key: ProviderKey) async throws

    /// Revokes a provider's key for good; `nil` when there is none of that id, or it was revoked before.
    func revokeProviderKey(_ keyID: String, at now: Timestamp) async throws -> ProviderKey?

    /// Adds a device; `false` when the id is taken.
    func addDevice(_ device: DeviceID, secretHash: [UInt8], at now: Timestamp) async throws -> Bool

    /// The hash of a device's secret; `nil` for one that is not enrolled, or was revoked.
    func secretHash(of device: DeviceID) async throws -> [UInt8]?

    /// Revokes a device for good: its registrations end.
    ///
    /// - Returns: `false` when there is no such device, or it was revoked before.
    func revokeDevice(_ device: DeviceID, at now: Timestamp) async throws -> Bool

    /// The devices that were revoked at or after an instant.
    func devicesRevoked(since instant: Timestamp) async throws -> [DeviceID]

    /// The registration of an app on a device in one environment, active or ended; `nil` when there never was one.
    func registration(
        device: DeviceID, app: AppID, environment: PushEnvironment
    ) async throws -> Registration?

    /// Makes a registration active: as it was, or with the next generation after it had ended.
    func register(
        device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws -> Registration

    /// Ends a registration; `nil` when there is none.
    func endRegistration(
        device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws -> Registration?
}

/// An app in the server's register.
public struct RegisteredApp: Hashable, Sendable {
    /// The number by which stores and device tokens name the app.
    public var id: AppID
    /// The app's bundle id, without the suffix of a push type.
    public var topic: Topic
    /// The team that owns the app.
    public var team: TeamID
    /// How much may wait for the app on one device in the lane `apns`.
    public var policy: MailboxPolicy

    /// Makes an entry of the register; nothing is checked.
    public init(id: AppID, topic: Topic, team: TeamID, policy: MailboxPolicy) {
        self.id = id
        self.topic = topic
        self.team = team
        self.policy = policy
    }
}

/// A provider's public key: P-256, as PEM (RFC 7468, `PUBLIC KEY`).
public struct ProviderKey: Hashable, Sendable {
    /// The key's id, ten characters `A-Z0-9`; the register has it once, over all teams.
    public var keyID: String
    /// The team that owns the key.
    public var team: TeamID
    /// The key's PEM text.
    public var publicKeyPEM: String
    /// When it was added to the register.
    public var createdAt: Timestamp

    /// Makes an entry of the register; nothing is checked.
    public init(keyID: String, team: TeamID, publicKeyPEM: String, createdAt: Timestamp) {
        self.keyID = keyID
        self.team = team
        self.publicKeyPEM = publicKeyPEM
        self.createdAt = createdAt
    }
}

/// An app on a device, as of its newest generation.
public struct Registration: Hashable, Sendable {
    /// How often the registration was renewed: `0 ... 32767`, then 0 again.
    public var generation: UInt16
    /// When it ended; `nil` while it is active.
    public var endedAt: Timestamp?
    /// When the generation before it ended; `nil` for the first one.
    public var previousEndedAt: Timestamp?

    /// Makes the state of a registration; nothing is checked.
    public init(generation: UInt16, endedAt: Timestamp?, previousEndedAt: Timestamp?) {
        self.generation = generation
        self.endedAt = endedAt
        self.previousEndedAt = previousEndedAt
    }
}

/// Why the register refused an entry.
public enum RegisterError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The topic is that of an app which this team owns.
    case topicTaken(Topic, by: TeamID)
    /// The topic was another team's until its app was removed; the timelines of that team are kept under it.
    case topicKept(Topic, for: TeamID)
    /// The register has a key of this id; a revoked one keeps its id.
    case keyIDTaken(String)

    public var description: String {
        switch self {
        case .topicTaken(let topic, let team): "the topic \(topic) already belongs to team \(team)"
        case .topicKept(let topic, let team):
            "the topic \(topic) was an app of team \(team), which was removed; only that team can add it again"
        case .keyIDTaken(let keyID): "there already is a key \(keyID)"
        }
    }
}
