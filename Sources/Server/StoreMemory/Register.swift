import Mailbox
import PushModel
import ServerCore

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
        var revokedAt: Timestamp?
    }

    /// By their ids, which begin at 1.
    private var apps: [App] = []
    private var keys: [Key] = []
    private var devices: [DeviceID: Device] = [:]
    private(set) var registrations: [RegistrationPlace: Registration] = [:]
    /// Counts what directories must hear of.
    private(set) var version: UInt64 = 0

    // MARK: Apps

    var presentApps: [RegisteredApp] { apps.filter { !$0.isRemoved }.map(\.app) }

    /// An app, also one that was removed.
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

    // MARK: Keys

    var presentKeys: [ProviderKey] {
        keys.filter { !$0.isRevoked }.map(\.key).sorted { ($0.createdAt, $0.keyID) < ($1.createdAt, $1.keyID) }
    }

    mutating func add(_ key: ProviderKey) throws {
        guard !keys.contains(where: { $0.key.keyID == key.keyID }) else { throw RegisterError.keyIDTaken(key.keyID) }
        keys.append(Key(key: key))
        version += 1
    }

    mutating func revokeKey(_ keyID: String) -> ProviderKey? {
        guard let index = keys.firstIndex(where: { $0.key.keyID == keyID && !$0.isRevoked }) else { return nil }
        keys[index].isRevoked = true
        version += 1
        return keys[index].key
    }

    // MARK: Devices

    func secretHash(of device: DeviceID) -> [UInt8]? { isRevoked(device) ? nil : devices[device]?.secretHash }

    func isRevoked(_ device: DeviceID) -> Bool { devices[device]?.revokedAt != nil }

    func devicesRevoked(since instant: Timestamp) -> [DeviceID] {
        devices.filter { $0.value.revokedAt.map { $0 >= instant } ?? false }.map(\.key)
    }

    mutating func add(_ device: DeviceID, secretHash: [UInt8]) -> Bool {
        guard devices[device] == nil else { return false }
        devices[device] = Device(secretHash: secretHash)
        return true
    }

    mutating func revoke(_ device: DeviceID, at now: Timestamp) -> Bool {
        guard devices[device] != nil, !isRevoked(device) else { return false }
        devices[device]?.revokedAt = now
        endRegistrations(at: now) { $0.device == device }
        version += 1
        return true
    }

    // MARK: Registrations

    mutating func register(_ place: RegistrationPlace) -> Registration {
        let known = registrations[place]
        if let known, known.endedAt == nil { return known }
        // The 15 bits of a generation begin again after 32768 renewals.
        let generation = known.map { ($0.generation &+ 1) & 0x7FFF } ?? 0
        let new = Registration(generation: generation, endedAt: nil, previousEndedAt: known?.endedAt)
        registrations[place] = new
        return new
    }

    mutating func endRegistration(_ place: RegistrationPlace, at now: Timestamp) -> Registration? {
        endRegistrations(at: now) { $0 == place }
        return registrations[place]
    }

    private mutating func endRegistrations(at now: Timestamp, where isMeant: (RegistrationPlace) -> Bool) {
        for (place, registration) in registrations where isMeant(place) && registration.endedAt == nil {
            registrations[place]?.endedAt = now
        }
    }
}
