import PushCore
import PushServer

extension MemoryStore: RegisterStore {
    /// The number of changes of apps, provider keys and revocations; 0 in a new store.
    package var registerVersion: UInt64 { state.withLock { $0.register.version } }

    /// The apps that were not removed, in the order of their ids.
    package func apps() async throws -> [RegisteredApp] { state.withLock { $0.register.presentApps } }

    /// Adds an app, or restores a removed one of the same team under its id, with the new policy.
    ///
    /// - Throws: ``RegisterError`` when the topic is an app's, or was an app of another team.
    package func addApp(
        topic: Topic, team: TeamID, policy: MailboxPolicy, at now: Timestamp
    ) async throws -> RegisteredApp {
        try state.withLock { try $0.register.addApp(topic: topic, team: team, policy: policy) }
    }

    /// Removes an app and ends its active registrations.
    package func removeApp(topic: Topic, at now: Timestamp) async throws -> RegisteredApp? {
        state.withLock { state in
            let app = state.register.removeApp(topic: topic, at: now)
            if let app { state.rows.removeTombstones { $1.app == app.id } }
            return app
        }
    }

    /// The keys that were not revoked, the oldest first.
    package func providerKeys() async throws -> [ProviderKey] { state.withLock { $0.register.presentKeys } }

    /// Adds a key.
    ///
    /// - Throws: ``RegisterError/keyIDTaken(_:)``, also for the id of a revoked key.
    package func addProviderKey(_ key: ProviderKey) async throws { try state.withLock { try $0.register.add(key) } }

    /// Revokes a key; its id stays taken.
    package func revokeProviderKey(_ keyID: KeyID, at now: Timestamp) async throws -> ProviderKey? {
        state.withLock { $0.register.revokeKey(keyID) }
    }

    /// Adds a device; `false` also if the id belongs to a revoked one.
    package func addDevice(_ device: DeviceID, secretHash: [UInt8], at now: Timestamp) async throws -> Bool {
        state.withLock { $0.register.add(device, secretHash: secretHash, at: now) }
    }

    /// The hash that was given to ``addDevice(_:secretHash:at:)``.
    package func secretHash(of device: DeviceID) async throws -> [UInt8]? {
        state.withLock { $0.register.secretHash(of: device) }
    }

    /// Revokes a device and ends its active registrations.
    package func revokeDevice(_ device: DeviceID, at now: Timestamp) async throws -> Bool {
        state.withLock { state in
            let isRevoked = state.register.revoke(device, at: now)
            if isRevoked { state.rows.removeTombstones { revoked, _ in revoked == device } }
            if isRevoked { state.rows.removeRecalls(of: device) }
            if isRevoked { state.rows.forgetMissed(of: device, only: nil) }
            if isRevoked { state.rows.removeCursor(of: device) }
            return isRevoked
        }
    }

    /// The devices that were revoked at or after the instant, in no order.
    package func devicesRevoked(since instant: Timestamp) async throws -> [DeviceID] {
        state.withLock { $0.register.devicesRevoked(since: instant) }
    }

    /// The registration in its newest generation.
    package func registration(
        device: DeviceID, app: AppID, environment: PushEnvironment
    ) async throws -> Registration? {
        let place = RegistrationKey(device: device, app: app, environment: environment)
        return state.withLock { $0.register.registrations[place] }
    }

    /// The registrations, all as of the same moment.
    package func registrations(of subjects: [TokenSubject]) async throws -> [Registration?] {
        state.withLock { state in
            subjects.map { subject in
                let place = RegistrationKey(
                    device: subject.device, app: subject.app, environment: subject.environment)
                return state.register.registrations[place]
            }
        }
    }

    /// The active registrations, all as of the same moment.
    package func activeRegistrations(of devices: [DeviceID], cell: UInt16) async throws -> [TokenSubject] {
        let wanted = Set(devices)
        return state.withLock { state in
            state.register.registrations.compactMap { place, registration in
                guard wanted.contains(place.device), registration.endedAt == nil else { return nil }
                return TokenSubject(
                    cell: cell, device: place.device, app: place.app, environment: place.environment,
                    generation: registration.generation)
            }
        }
    }

    /// Makes a registration active; the generation after 32767 is 0.
    package func register(
        device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws -> Registration {
        let place = RegistrationKey(device: device, app: app, environment: environment)
        return state.withLock { $0.register.register(place, at: now) }
    }

    /// Ends a registration; one that has ended is not changed.
    package func endRegistration(
        device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws -> Registration? {
        let place = RegistrationKey(device: device, app: app, environment: environment)
        return state.withLock { $0.register.endRegistration(place, at: now) }
    }

    /// Stores the key in place of an earlier one, or removes that.
    package func setEncryptionKey(
        _ key: RecipientPublicKey?, device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws {
        let place = RegistrationKey(device: device, app: app, environment: environment)
        state.withLock { $0.register.encryptionKeys[place] = key }
    }

    /// The key of a registration; `nil` when it has published none.
    package func encryptionKey(
        device: DeviceID, app: AppID, environment: PushEnvironment
    ) async throws -> RecipientPublicKey? {
        let place = RegistrationKey(device: device, app: app, environment: environment)
        return state.withLock { $0.register.encryptionKeys[place] }
    }
}
