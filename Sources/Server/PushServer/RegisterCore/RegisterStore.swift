import PushCore

/// Durable storage of apps, provider keys, devices and registrations; the port that a store implements.
package protocol RegisterStore: Sendable {
    /// The version, which changes with every change of apps, provider keys, certificates and revocations by any
    /// process.
    ///
    /// Read on every request, so it costs no more than memory.
    var registerVersion: UInt64 { get }

    /// The apps that were not removed.
    func apps() async throws -> [RegisteredApp]

    /// Adds an app. - Throws: ``RegisterError`` when the topic is taken.
    func addApp(topic: Topic, team: TeamID, policy: MailboxPolicy, at now: Timestamp) async throws -> RegisteredApp

    /// Removes an app: its registrations end. Its topic stays reserved for its team, which may add it again.
    ///
    /// - Returns: The app; `nil` when there is none with that topic.
    func removeApp(topic: Topic, at now: Timestamp) async throws -> RegisteredApp?

    /// The keys that were not revoked.
    func providerKeys() async throws -> [ProviderKey]

    /// Adds a provider's public key. - Throws: ``RegisterError`` when the key id is taken.
    func addProviderKey(_ key: ProviderKey) async throws

    /// Revokes a provider's key for good; `nil` when there is none with that id, or it was revoked before.
    func revokeProviderKey(_ keyID: KeyID, at now: Timestamp) async throws -> ProviderKey?

    /// Adds a device; `false` when the id is taken.
    func addDevice(_ device: DeviceID, secretHash: [UInt8], at now: Timestamp) async throws -> Bool

    /// The hash of a device's secret; `nil` for one that is not enrolled, is blocked, or was revoked.
    func secretHash(of device: DeviceID) async throws -> [UInt8]?

    /// Revokes a device for good: its registrations end.
    ///
    /// - Returns: `false` when there is no such device, or it was revoked before.
    func revokeDevice(_ device: DeviceID, at now: Timestamp) async throws -> Bool

    /// The devices that were revoked or blocked at or after an instant; unblocked ones are not included.
    func devicesRevoked(since instant: Timestamp) async throws -> [DeviceID]

    /// The registration of an app on a device in one environment, active or ended; `nil` when there never was one.
    func registration(
        device: DeviceID, app: AppID, environment: PushEnvironment
    ) async throws -> Registration?

    /// The registrations of token subjects, at most some hundreds, each as for
    /// ``registration(device:app:environment:)``.
    func registrations(of subjects: [TokenSubject]) async throws -> [Registration?]

    /// The token subjects of the active registrations of some devices, at most some hundreds, in no order.
    ///
    /// - Parameter cell: The cell of this server.
    func activeRegistrations(of devices: [DeviceID], cell: UInt16) async throws -> [TokenSubject]

    /// Makes a registration active: unchanged, or with the next generation after it had ended.
    func register(
        device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws -> Registration

    /// Ends a registration; `nil` when there is none.
    func endRegistration(
        device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws -> Registration?

    /// Stores the public key that an app on a device has published, in place of an earlier one; `nil` removes it. The
    /// end of the registration removes it too.
    func setEncryptionKey(
        _ key: RecipientPublicKey?, device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws

    /// The public key that an app on a device has published; `nil` when there is none.
    func encryptionKey(
        device: DeviceID, app: AppID, environment: PushEnvironment
    ) async throws -> RecipientPublicKey?
}

/// An app in the server's register.
package struct RegisteredApp: Hashable, Sendable {
    /// The app's number in stores and device tokens.
    package var id: AppID
    /// The app's bundle id, without the suffix of a push type.
    package var topic: Topic
    /// The team that owns the app.
    package var team: TeamID
    /// The limits of the app's queue on one device in the lane `apns`.
    package var policy: MailboxPolicy
    /// The app's display name; `nil` where none was set.
    package var name: String?
    /// Whether the app has the capability of push notifications.
    package var isPushEnabled: Bool

    /// Creates an entry of the register; nothing is checked.
    package init(
        id: AppID, topic: Topic, team: TeamID, policy: MailboxPolicy, name: String? = nil, isPushEnabled: Bool = true
    ) {
        self.id = id
        self.topic = topic
        self.team = team
        self.policy = policy
        self.name = name
        self.isPushEnabled = isPushEnabled
    }
}

/// A provider's public key: P-256, as PEM (RFC 7468, `PUBLIC KEY`).
package struct ProviderKey: Hashable, Sendable {
    /// The key's id, which is unique over all teams.
    package var keyID: KeyID
    /// The team that owns the key.
    package var team: TeamID
    /// The key's PEM text.
    package var publicKeyPEM: String
    /// The time at which it was added to the register.
    package var createdAt: Timestamp

    /// Creates an entry of the register; nothing is checked.
    package init(keyID: KeyID, team: TeamID, publicKeyPEM: String, createdAt: Timestamp) {
        self.keyID = keyID
        self.team = team
        self.publicKeyPEM = publicKeyPEM
        self.createdAt = createdAt
    }
}

/// An app on a device, as of its newest generation.
package struct Registration: Hashable, Sendable {
    /// The number of renewals of the registration: `0 ... 32767`, then 0 again.
    package var generation: UInt16
    /// The time at which it ended; `nil` while it is active.
    package var endedAt: Timestamp?
    /// The time at which the previous generation ended; `nil` for the first one.
    package var previousEndedAt: Timestamp?

    /// Creates the state of a registration; nothing is checked.
    package init(generation: UInt16, endedAt: Timestamp?, previousEndedAt: Timestamp?) {
        self.generation = generation
        self.endedAt = endedAt
        self.previousEndedAt = previousEndedAt
    }
}

/// The reason why the register refused an entry.
package enum RegisterError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The topic is that of an app which this team owns.
    case topicTaken(Topic, by: TeamID)
    /// The topic was another team's until its app was removed; the timelines of that team are kept under it.
    case topicKept(Topic, for: TeamID)
    /// The register has a key with this id; a revoked one keeps its id.
    case keyIDTaken(KeyID)
    /// The register has a certificate or an authority with this id; a revoked one keeps its id.
    case certificateIDTaken(String)
    /// The register has this very certificate or authority, under this id.
    case certificateKnown(String)
    /// The register has a team with this id.
    case teamTaken(TeamID)
    /// The register has a service account with this key id or e-mail; a revoked one keeps both.
    case serviceAccountTaken(String)
    /// The register has a key for enrolment with this id; a revoked one keeps its id.
    case enrolmentKeyTaken(String)

    package var description: String {
        switch self {
        case .topicTaken(let topic, let team): "the topic \(topic) already belongs to team \(team)"
        case .topicKept(let topic, let team):
            "the topic \(topic) was an app of team \(team), which was removed; only that team can add it again"
        case .keyIDTaken(let keyID): "there already is a key \(keyID)"
        case .certificateIDTaken(let id): "there already is a certificate \(id)"
        case .certificateKnown(let id): "the register has this certificate as \(id)"
        case .teamTaken(let team): "there already is a team \(team)"
        case .serviceAccountTaken(let name): "there already is a service account \(name)"
        case .enrolmentKeyTaken(let id): "there already is an enrolment key \(id)"
        }
    }
}
