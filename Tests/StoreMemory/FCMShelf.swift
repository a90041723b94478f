import FCMProtocol
import PushCore
import PushServer
import WebPushProtocol

/// The rows of FCM's enrolment, and the keys for enrolment: a value.
struct FCMShelf: Sendable {
    struct InstallationName: Hashable, Sendable {
        var team: TeamID
        var id: String
    }

    /// Of active registrations, with the instant at which each was kept.
    var webRegistrations: [RegistrationKey: (registration: WebRegistration, at: Timestamp)] = [:]
    var channels: [DeviceID: [PushChannelID: WebChannel]] = [:]
    var installations: [InstallationName: (installation: Installation, key: String?)] = [:]
    var keys: [EnrolmentKey] = []

    func kept(where isMeant: (RegistrationKey, WebRegistration) -> Bool) -> [StoredWebRegistration] {
        webRegistrations.filter { isMeant($0.key, $0.value.registration) }.map { place, kept in
            StoredWebRegistration(
                device: place.device, app: place.app, environment: place.environment, registration: kept.registration,
                registeredAt: kept.at)
        }.sorted { $0.app.rawValue < $1.app.rawValue }
    }

    /// Removes the subscriptions of a registration that has ended.
    mutating func removeChannels(of place: RegistrationKey) {
        channels[place.device] = channels[place.device]?.filter {
            $0.value.app != place.app || $0.value.environment != place.environment
        }
    }

    mutating func keep(_ installation: Installation, byKey keyHash: [UInt8]?) -> Bool {
        let index = keyHash.flatMap { hash in keys.firstIndex { $0.secretHash == hash } }
        if let index, let limit = keys[index].installationLimit, keys[index].installations >= limit { return false }
        let name = InstallationName(team: installation.team, id: installation.id)
        _ = removeInstallation(name)
        if let index { keys[index].installations += 1 }
        installations[name] = (installation, index.map { keys[$0].id })
        return true
    }

    mutating func removeInstallation(_ name: InstallationName) -> Bool {
        guard let removed = installations.removeValue(forKey: name) else { return false }
        if let index = keys.firstIndex(where: { $0.id == removed.key }) { keys[index].installations -= 1 }
        return true
    }

    mutating func use(secretHash: [UInt8], isCounted: Bool, at now: Timestamp) -> EnrolmentKeyVerdict {
        guard let index = keys.firstIndex(where: { $0.secretHash == secretHash }) else { return .unknown }
        let verdict = keys[index].verdict(at: now)
        if verdict == .valid, isCounted { keys[index].used += 1 }
        return verdict
    }
}
