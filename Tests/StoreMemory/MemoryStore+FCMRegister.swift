import FCMProtocol
import PushCore
import PushServer
import WebPushProtocol

extension MemoryStore: FCMRegister {
    /// Stores the registration in place of an earlier one, or removes that.
    package func keepWebRegistration(
        _ registration: WebRegistration?, device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws {
        let place = RegistrationKey(device: device, app: app, environment: environment)
        state.withLock { $0.register.fcm.webRegistrations[place] = registration.map { ($0, now) } }
    }

    /// Compares and keeps at once.
    package func changeWebRegistration(
        _ kept: StoredWebRegistration, to registration: WebRegistration, at now: Timestamp
    ) async throws -> Bool {
        let place = RegistrationKey(device: kept.device, app: kept.app, environment: kept.environment)
        return state.withLock { state in
            guard state.register.fcm.webRegistrations[place]?.registration == kept.registration else { return false }
            state.register.fcm.webRegistrations[place] = (registration, now)
            return true
        }
    }

    /// The registrations of a device, in the order of their apps.
    package func webRegistrations(of device: DeviceID) async throws -> [StoredWebRegistration] {
        state.withLock { $0.register.fcm.kept { place, _ in place.device == device } }
    }

    /// The registrations of the team's apps whose keys the installation set.
    package func webRegistrations(ofInstallation id: String, team: TeamID) async throws -> [StoredWebRegistration] {
        state.withLock { state in
            state.register.fcm.kept { place, registration in
                registration.installation == id && state.register.app(place.app)?.team == team
            }
        }
    }

    /// The devices of all registrations.
    package func devicesWithWebRegistrations() async throws -> [DeviceID] {
        state.withLock { Array(Set($0.register.fcm.webRegistrations.keys.map(\.device))) }
    }

    /// Checks the key and stores the installation under one lock.
    package func keepInstallation(_ installation: Installation, byKey keyHash: [UInt8]?) async throws -> Bool {
        state.withLock { $0.register.fcm.keep(installation, byKey: keyHash) }
    }

    /// The installation as it was stored.
    package func installation(_ id: String, team: TeamID) async throws -> Installation? {
        state.withLock { $0.register.fcm.installations[.init(team: team, id: id)]?.installation }
    }

    /// Deletes the installation; its registrations remain.
    package func removeInstallation(_ id: String, team: TeamID) async throws -> Bool {
        state.withLock { $0.register.fcm.removeInstallation(.init(team: team, id: id)) }
    }
}

extension MemoryStore: EnrolmentKeyRegister {
    /// Adds a key; the id of a revoked one is also taken.
    package func addEnrolmentKey(_ key: EnrolmentKey) async throws {
        try state.withLock { state in
            guard !state.register.fcm.keys.contains(where: { $0.id == key.id || $0.secretHash == key.secretHash })
            else {
                throw RegisterError.enrolmentKeyTaken(key.id)
            }
            state.register.fcm.keys.append(key)
        }
    }

    /// All keys.
    package func enrolmentKeys() async throws -> [EnrolmentKey] {
        state.withLock { $0.register.fcm.keys.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) } }
    }

    /// Revokes a key; its id stays taken.
    package func revokeEnrolmentKey(_ id: String, at now: Timestamp) async throws -> Bool {
        state.withLock { state in
            guard let index = state.register.fcm.keys.firstIndex(where: { $0.id == id && $0.revokedAt == nil }) else {
                return false
            }
            state.register.fcm.keys[index].revokedAt = now
            return true
        }
    }

    /// Checks and counts the use under one lock.
    package func useEnrolmentKey(
        secretHash: [UInt8], isCounted: Bool, at now: Timestamp
    ) async throws -> EnrolmentKeyVerdict {
        state.withLock { $0.register.fcm.use(secretHash: secretHash, isCounted: isCounted, at: now) }
    }

    /// Sets or removes the time since which the device is blocked; a revoked one is not changed.
    package func setBlocked(_ device: DeviceID, _ isBlocked: Bool, at now: Timestamp) async throws -> Bool {
        state.withLock { $0.register.setBlocked(device, isBlocked, at: now) }
    }

    /// Whether the device is blocked.
    package func isBlocked(_ device: DeviceID) async throws -> Bool {
        state.withLock { $0.register.isBlocked(device) }
    }

    /// A page of the devices.
    package func devices(after: DeviceID?, limit: Int) async throws -> [EnrolledDevice] {
        state.withLock { $0.register.enrolledDevices(after: after, limit: limit) }
    }
}

extension MemoryStore: WebChannelRegister {
    /// Counts and stores under one lock.
    package func storeWebChannel(_ channel: WebChannel, limit: Int) async throws -> Bool {
        state.withLock { state in
            let known = state.register.fcm.channels[channel.device] ?? [:]
            guard known.keys.count(where: { $0 != channel.id }) < limit else { return false }
            state.register.fcm.channels[channel.device, default: [:]][channel.id] = channel
            return true
        }
    }

    /// Deletes the subscription.
    package func removeWebChannel(_ id: PushChannelID, of device: DeviceID) async throws -> Bool {
        state.withLock { $0.register.fcm.channels[device]?.removeValue(forKey: id) != nil }
    }

    /// The subscription as it was stored.
    package func webChannel(_ id: PushChannelID, of device: DeviceID) async throws -> WebChannel? {
        state.withLock { $0.register.fcm.channels[device]?[id] }
    }

    /// The subscriptions of the device.
    package func webChannels(of device: DeviceID) async throws -> [WebChannel] {
        state.withLock {
            ($0.register.fcm.channels[device] ?? [:]).values.sorted { $0.id.description < $1.id.description }
        }
    }
}
