import AldabaTestSupport
import PushCore
import StoreMemory
import Synchronization
import WebPushProtocol

@testable import PushServer

/// A register in memory whose calls a test lets fail, or holds back before they take effect.
final class HeldRegister: RegisterStore, WebChannelRegister {
    struct Failure: Error {}

    enum Call: Hashable, Sendable {
        case addApp
        case addDevice
        case register
        case secretHash
        case removeWebChannel
        case storeWebChannel
        case webChannel
        case webChannels
    }

    /// Calls that wait: the number of them, and what lets them go on.
    struct Hold: Sendable {
        let waiting = Watched(0)
        let released = Latch()
    }

    let base: MemoryStore
    private let failing = Mutex<Set<Call>>([])
    private let holds = Mutex<[Call: Hold]>([:])

    init(_ base: MemoryStore) { self.base = base }

    /// Lets a call fail from now on.
    func fail(_ call: Call) { failing.withLock { _ = $0.insert(call) } }

    /// Lets a call wait from now on.
    func hold(_ call: Call) -> Hold {
        let hold = Hold()
        holds.withLock { $0[call] = hold }
        return hold
    }

    private func pass(_ call: Call) async throws {
        if let hold = holds.withLock({ $0[call] }) {
            hold.waiting.change { $0 += 1 }
            await hold.released.wait()
        }
        if failing.withLock({ $0.contains(call) }) { throw Failure() }
    }

    // MARK: Calls that can fail and wait

    func addApp(topic: Topic, team: TeamID, policy: MailboxPolicy, at now: Timestamp) async throws -> RegisteredApp {
        try await pass(.addApp)
        return try await base.addApp(topic: topic, team: team, policy: policy, at: now)
    }

    func addDevice(_ device: DeviceID, secretHash: [UInt8], at now: Timestamp) async throws -> Bool {
        try await pass(.addDevice)
        return try await base.addDevice(device, secretHash: secretHash, at: now)
    }

    func secretHash(of device: DeviceID) async throws -> [UInt8]? {
        try await pass(.secretHash)
        return try await base.secretHash(of: device)
    }

    func register(
        device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws -> Registration {
        try await pass(.register)
        return try await base.register(device: device, app: app, environment: environment, at: now)
    }

    func storeWebChannel(_ channel: WebChannel, limit: Int) async throws -> Bool {
        try await pass(.storeWebChannel)
        return try await base.storeWebChannel(channel, limit: limit)
    }

    func removeWebChannel(_ id: PushChannelID, of device: DeviceID) async throws -> Bool {
        try await pass(.removeWebChannel)
        return try await base.removeWebChannel(id, of: device)
    }

    func webChannel(_ id: PushChannelID, of device: DeviceID) async throws -> WebChannel? {
        try await pass(.webChannel)
        return try await base.webChannel(id, of: device)
    }

    func webChannels(of device: DeviceID) async throws -> [WebChannel] {
        try await pass(.webChannels)
        return try await base.webChannels(of: device)
    }

    // MARK: Other calls

    var registerVersion: UInt64 { base.registerVersion }
    func apps() async throws -> [RegisteredApp] { try await base.apps() }
    func removeApp(topic: Topic, at now: Timestamp) async throws -> RegisteredApp? {
        try await base.removeApp(topic: topic, at: now)
    }
    func providerKeys() async throws -> [ProviderKey] { try await base.providerKeys() }
    func addProviderKey(_ key: ProviderKey) async throws { try await base.addProviderKey(key) }
    func revokeProviderKey(_ keyID: KeyID, at now: Timestamp) async throws -> ProviderKey? {
        try await base.revokeProviderKey(keyID, at: now)
    }
    func revokeDevice(_ device: DeviceID, at now: Timestamp) async throws -> Bool {
        try await base.revokeDevice(device, at: now)
    }
    func devicesRevoked(since instant: Timestamp) async throws -> [DeviceID] {
        try await base.devicesRevoked(since: instant)
    }
    func registration(device: DeviceID, app: AppID, environment: PushEnvironment) async throws -> Registration? {
        try await base.registration(device: device, app: app, environment: environment)
    }
    func registrations(of subjects: [TokenSubject]) async throws -> [Registration?] {
        try await base.registrations(of: subjects)
    }
    func activeRegistrations(of devices: [DeviceID], cell: UInt16) async throws -> [TokenSubject] {
        try await base.activeRegistrations(of: devices, cell: cell)
    }
    func endRegistration(
        device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws -> Registration? {
        try await base.endRegistration(device: device, app: app, environment: environment, at: now)
    }
    func setEncryptionKey(
        _ key: RecipientPublicKey?, device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws {
        try await base.setEncryptionKey(key, device: device, app: app, environment: environment, at: now)
    }
    func encryptionKey(
        device: DeviceID, app: AppID, environment: PushEnvironment
    ) async throws -> RecipientPublicKey? {
        try await base.encryptionKey(device: device, app: app, environment: environment)
    }
}
