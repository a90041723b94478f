import PushModel
import RegisterCore
import ServerCore
import WebPushWire

/// What FCM's enrolment keeps, and the keys for enrolment: a value.
struct FCMShelf: Sendable {
    struct InstallationName: Hashable, Sendable {
        var team: TeamID
        var id: String
    }

    /// Of active registrations.
    var webRegistrations: [RegistrationPlace: WebRegistration] = [:]
    var installations: [InstallationName: Installation] = [:]
    var keys: [EnrolmentKey] = []

    func kept(where isMeant: (RegistrationPlace, WebRegistration) -> Bool) -> [KeptWebRegistration] {
        webRegistrations.filter { isMeant($0.key, $0.value) }.map { place, registration in
            KeptWebRegistration(
                device: place.device, app: place.app, environment: place.environment, registration: registration)
        }.sorted { $0.app.rawValue < $1.app.rawValue }
    }

    mutating func use(secretHash: [UInt8], isCounted: Bool, at now: Timestamp) -> EnrolmentKeyVerdict {
        guard let index = keys.firstIndex(where: { $0.secretHash == secretHash }) else { return .unknown }
        let verdict = keys[index].verdict(at: now)
        if verdict == .valid, isCounted { keys[index].used += 1 }
        return verdict
    }
}
