import APNsProtocol
import PushCore
import PushServer

/// Apps, keys, devices and registrations: a value.
struct Register: Sendable {
    private struct App: Sendable {
        var app: RegisteredApp
        var isRemoved = false
    }

    private struct Key: Sendable {
        var key: ProviderKey
        var isRevoked = false
    }

    private struct Device: Sendable {
        var secretHash: [UInt8]
        var enrolledAt: Timestamp
        var seenAt: Timestamp
        var blockedAt: Timestamp?
        var revokedAt: Timestamp?
    }

    /// The apps by their ids, which begin at 1.
    private var apps: [App] = []
    private var keys: [Key] = []
    private var devices: [DeviceID: Device] = [:]
    private(set) var registrations: [RegistrationKey: Registration] = [:]
    /// The time at which each registration's newest generation was made.
    private(set) var registeredAt: [RegistrationKey: Timestamp] = [:]
    private(set) var shelf = CertificateShelf()
    /// The public keys of active registrations.
    var encryptionKeys: [RegistrationKey: RecipientPublicKey] = [:]
    var fcm = FCMShelf()
    var broadcastChannels: [AppPlace: [ChannelID: BroadcastChannel]] = [:]
    /// The ends of registrations that no provider has read, the oldest first; the newest ``endLimit`` of all.
    private(set) var ends: [(place: RegistrationKey, end: EndedRegistration)] = []
    private var lastEnd: Int64 = 0
    /// The maximum number of ends, so that those of apps that never read them do not fill the memory.
    private static let endLimit = 200_000
    /// The number of changes that directories must read.
    private(set) var version: UInt64 = 0

    /// Records a change outside of this value that directories must read.
    mutating func change() { version += 1 }

    /// The active registration of an app on a device, production before sandbox.
    func activeRegistration(of app: AppID, on device: DeviceID) -> (PushEnvironment, Registration)? {
        for environment in [PushEnvironment.production, .sandbox] {
            let place = RegistrationKey(device: device, app: app, environment: environment)
            if let found = registrations[place], found.endedAt == nil { return (environment, found) }
        }
        return nil
    }

    // MARK: Apps

    var presentApps: [RegisteredApp] { apps.filter { !$0.isRemoved }.map(\.app) }

    /// The app with an id, including removed ones.
    func app(_ id: AppID) -> RegisteredApp? { apps.first { $0.app.id == id }?.app }

    func isRemoved(_ id: AppID) -> Bool { apps.contains { $0.app.id == id && $0.isRemoved } }

    mutating func addApp(topic: Topic, team: TeamID, policy: MailboxPolicy) throws -> RegisteredApp {
        guard let known = apps.firstIndex(where: { $0.app.topic == topic }) else {
            let id = AppID(rawValue: UInt32(apps.count) + 1)
            apps.append(App(app: RegisteredApp(id: id, topic: topic, team: team, policy: policy)))
            version += 1
            return apps[apps.count - 1].app
        }
        let owner = apps[known].app.team
        guard apps[known].isRemoved else { throw RegisterError.topicTaken(topic, by: owner) }
        guard owner == team else { throw RegisterError.topicKept(topic, for: owner) }
        apps[known].app.policy = policy
        apps[known].isRemoved = false
        (apps[known].app.name, apps[known].app.isPushEnabled) = (nil, true)
        version += 1
        return apps[known].app
    }

    mutating func removeApp(topic: Topic, at now: Timestamp) -> RegisteredApp? {
        guard let index = apps.firstIndex(where: { $0.app.topic == topic && !$0.isRemoved }) else { return nil }
        let app = apps[index].app
        apps[index].isRemoved = true
        endRegistrations(at: now) { $0.app == app.id }
        version += 1
        return app
    }

    mutating func updateApp(
        topic: Topic, name: String?, isPushEnabled: Bool?, policy: MailboxPolicy?
    ) -> RegisteredApp? {
        guard let index = apps.firstIndex(where: { $0.app.topic == topic && !$0.isRemoved }) else { return nil }
        if let name { apps[index].app.name = name.isEmpty ? nil : name }
        if let policy { apps[index].app.policy = policy }
        if let isPushEnabled { apps[index].app.isPushEnabled = isPushEnabled }
        version += 1
        return apps[index].app
    }

    // MARK: Certificates

    mutating func changeShelf<Result>(_ change: (inout CertificateShelf) throws -> Result) rethrows -> Result {
        let result = try change(&shelf)
        version += 1
        return result
    }

    // MARK: Keys

    var presentKeys: [ProviderKey] {
        keys.filter { !$0.isRevoked }.map(\.key).sorted { ($0.createdAt, $0.keyID) < ($1.createdAt, $1.keyID) }
    }

    mutating func add(_ key: ProviderKey) throws {
        guard !keys.contains(where: { $0.key.keyID == key.keyID }) else { throw RegisterError.keyIDTaken(key.keyID) }
        keys.append(Key(key: key))
        version += 1
    }

    mutating func revokeKey(_ keyID: KeyID) -> ProviderKey? {
        guard let index = keys.firstIndex(where: { $0.key.keyID == keyID && !$0.isRevoked }) else { return nil }
        keys[index].isRevoked = true
        version += 1
        return keys[index].key
    }

    // MARK: Devices

    func isBlocked(_ device: DeviceID) -> Bool { devices[device]?.blockedAt != nil && !isRevoked(device) }

    func secretHash(of device: DeviceID, evenBlocked: Bool = false) -> [UInt8]? {
        guard let known = devices[device], known.revokedAt == nil, evenBlocked || known.blockedAt == nil else {
            return nil
        }
        return known.secretHash
    }

    func isRevoked(_ device: DeviceID) -> Bool { devices[device]?.revokedAt != nil }

    func devicesRevoked(since instant: Timestamp) -> [DeviceID] {
        devices.filter { ($0.value.revokedAt ?? $0.value.blockedAt).map { $0 >= instant } ?? false }.map(\.key)
    }

    mutating func add(_ device: DeviceID, secretHash: [UInt8], at now: Timestamp) -> Bool {
        guard devices[device] == nil else { return false }
        devices[device] = Device(secretHash: secretHash, enrolledAt: now, seenAt: now)
        return true
    }

    /// The time at which a device's presence was last recorded.
    func lastSeen(_ device: DeviceID) -> Timestamp? { devices[device]?.seenAt }

    mutating func noteSeen(_ device: DeviceID, at now: Timestamp) { devices[device]?.seenAt = now }

    mutating func revoke(_ device: DeviceID, at now: Timestamp) -> Bool {
        guard devices[device] != nil, !isRevoked(device) else { return false }
        devices[device]?.revokedAt = now
        endRegistrations(at: now) { $0.device == device }
        version += 1
        return true
    }

    mutating func setBlocked(_ device: DeviceID, _ isBlocked: Bool, at now: Timestamp) -> Bool {
        guard let known = devices[device], known.revokedAt == nil, (known.blockedAt == nil) == isBlocked else {
            return false
        }
        devices[device]?.blockedAt = isBlocked ? now : nil
        version += 1
        return true
    }

    func enrolledDevices(after: DeviceID?, limit: Int) -> [EnrolledDevice] {
        devices.sorted { $0.key.rawValue < $1.key.rawValue }.drop { $0.key.rawValue <= after?.rawValue ?? 0 }
            .prefix(limit).map { id, device in
                EnrolledDevice(
                    device: id, enrolledAt: device.enrolledAt, seenAt: device.seenAt, blockedAt: device.blockedAt,
                    revokedAt: device.revokedAt,
                    registrations: registrations.count { $0.key.device == id && $0.value.endedAt == nil })
            }
    }

    // MARK: Registrations

    /// Whether a token's registration is the active one.
    func isActive(_ subject: TokenSubject) -> Bool {
        let place = RegistrationKey(device: subject.device, app: subject.app, environment: subject.environment)
        guard let registration = registrations[place] else { return false }
        return registration.endedAt == nil && registration.generation == subject.generation
    }

    mutating func register(_ place: RegistrationKey, at now: Timestamp) -> Registration {
        let known = registrations[place]
        if let known, known.endedAt == nil { return known }
        // The 15 bits of a generation start over after 32768 renewals.
        let generation = known.map { ($0.generation &+ 1) & 0x7FFF } ?? 0
        let new = Registration(generation: generation, endedAt: nil, previousEndedAt: known?.endedAt)
        registrations[place] = new
        registeredAt[place] = now
        return new
    }

    mutating func endRegistration(_ place: RegistrationKey, at now: Timestamp) -> Registration? {
        endRegistrations(at: now) { $0 == place }
        return registrations[place]
    }

    private mutating func endRegistrations(at now: Timestamp, where isMeant: (RegistrationKey) -> Bool) {
        for (place, registration) in registrations where isMeant(place) && registration.endedAt == nil {
            registrations[place]?.endedAt = now
            encryptionKeys[place] = nil
            fcm.webRegistrations[place] = nil
            fcm.removeChannels(of: place)
            lastEnd += 1
            let end = EndedRegistration(
                number: lastEnd, device: place.device, generation: registration.generation, endedAt: now)
            ends.append((place, end))
        }
        if ends.count > Self.endLimit { ends.removeFirst(ends.count - Self.endLimit) }
    }

    mutating func forgetEnds(app: AppID, environment: PushEnvironment, through number: Int64) {
        ends.removeAll { $0.place.app == app && $0.place.environment == environment && $0.end.number <= number }
    }
}
