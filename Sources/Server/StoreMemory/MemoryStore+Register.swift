import Mailbox
import PushModel
import ServerCore

extension MemoryStore: RegisterStore {
    public var registerVersion: UInt64 { state.withLock { $0.register.version } }

    public func apps() async throws -> [RegisteredApp] { state.withLock { $0.register.presentApps } }

    public func addApp(
        topic: Topic, team: TeamID, policy: MailboxPolicy, at now: Timestamp
    ) async throws -> RegisteredApp {
        try state.withLock { try $0.register.addApp(topic: topic, team: team, policy: policy) }
    }

    public func removeApp(topic: Topic, at now: Timestamp) async throws -> RegisteredApp? {
        state.withLock { $0.register.removeApp(topic: topic, at: now) }
    }

    public func providerKeys() async throws -> [ProviderKey] { state.withLock { $0.register.presentKeys } }

    public func addProviderKey(_ key: ProviderKey) async throws { try state.withLock { try $0.register.add(key) } }

    public func revokeProviderKey(_ keyID: String, at now: Timestamp) async throws -> ProviderKey? {
        state.withLock { $0.register.revokeKey(keyID) }
    }

    public func addDevice(_ device: DeviceID, secretHash: [UInt8], at now: Timestamp) async throws -> Bool {
        state.withLock { $0.register.add(device, secretHash: secretHash) }
    }

    public func secretHash(of device: DeviceID) async throws -> [UInt8]? {
        state.withLock { $0.register.secretHash(of: device) }
    }

    public func revokeDevice(_ device: DeviceID, at now: Timestamp) async throws -> Bool {
        state.withLock { $0.register.revoke(device, at: now) }
    }

    public func devicesRevoked(since instant: Timestamp) async throws -> [DeviceID] {
        state.withLock { $0.register.devicesRevoked(since: instant) }
    }

    public func registration(
        device: DeviceID, app: AppID, environment: PushEnvironment
    ) async throws -> Registration? {
        let place = RegistrationPlace(device: device, app: app, environment: environment)
        return state.withLock { $0.register.registrations[place] }
    }

    public func register(
        device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws -> Registration {
        let place = RegistrationPlace(device: device, app: app, environment: environment)
        return state.withLock { $0.register.register(place) }
    }

    public func endRegistration(
        device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws -> Registration? {
        let place = RegistrationPlace(device: device, app: app, environment: environment)
        return state.withLock { $0.register.endRegistration(place, at: now) }
    }
}
