import Mailbox
import PushModel

/// Where apps, provider keys, devices and registrations are durable; the port that a store implements.
public protocol RegisterStore: Sendable {
    func apps() async throws -> [RegisteredApp]

    /// Adds an app. - Throws: ``RegisterError`` when the topic is taken.
    func addApp(topic: Topic, team: TeamID, policy: MailboxPolicy, at now: Timestamp) async throws -> RegisteredApp

    func providerKeys() async throws -> [ProviderKey]

    /// Adds a provider's public key. - Throws: ``RegisterError`` when the key id is taken.
    func addProviderKey(_ key: ProviderKey) async throws

    /// Adds a device; `false` when the id is taken.
    func addDevice(_ device: DeviceID, secretHash: [UInt8], at now: Timestamp) async throws -> Bool

    func secretHash(of device: DeviceID) async throws -> [UInt8]?

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
    public var id: AppID
    public var topic: Topic
    public var team: TeamID
    public var policy: MailboxPolicy

    public init(id: AppID, topic: Topic, team: TeamID, policy: MailboxPolicy) {
        self.id = id
        self.topic = topic
        self.team = team
        self.policy = policy
    }
}

/// A provider's public key: P-256, as PEM (RFC 7468, `PUBLIC KEY`).
public struct ProviderKey: Hashable, Sendable {
    public var keyID: String
    public var team: TeamID
    public var publicKeyPEM: String
    public var createdAt: Timestamp

    public init(keyID: String, team: TeamID, publicKeyPEM: String, createdAt: Timestamp) {
        self.keyID = keyID
        self.team = team
        self.publicKeyPEM = publicKeyPEM
        self.createdAt = createdAt
    }
}

/// An app on a device, as of its newest generation.
public struct Registration: Hashable, Sendable {
    public var generation: UInt16
    /// When it ended; `nil` while it is active.
    public var endedAt: Timestamp?
    /// When the generation before it ended; `nil` for the first one.
    public var previousEndedAt: Timestamp?

    public init(generation: UInt16, endedAt: Timestamp?, previousEndedAt: Timestamp?) {
        self.generation = generation
        self.endedAt = endedAt
        self.previousEndedAt = previousEndedAt
    }
}

/// Why the register refused an entry.
public enum RegisterError: Error, Hashable, Sendable, CustomStringConvertible {
    case topicTaken(Topic, by: TeamID)
    case keyIDTaken(String)

    public var description: String {
        switch self {
        case .topicTaken(let topic, let team): "the topic \(topic) already belongs to team \(team)"
        case .keyIDTaken(let keyID): "there already is a key \(keyID)"
        }
    }
}
