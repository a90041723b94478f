import PushCore

/// The enrolment of new devices, and of the apps on them; the port of the enrolment API.
package protocol EnrolmentService: Sendable {
    /// Enrols a new device, or checks in a known one (same id and secret come back).
    ///
    /// - Returns: `nil` when `known` is a device that this server did not enrol, or whose secret is wrong.
    /// - Throws: An error when the store cannot be reached; nothing was enrolled.
    func checkIn(known: DeviceCredentials?) async throws -> DeviceCredentials?

    /// Registers an app of a team on a device and returns its device token, 64 hexadecimal digits.
    ///
    /// Repeating a registration returns the same token; after an unregistration the generation is new.
    ///
    /// - Parameter encryptionKey: The public key to which senders may encrypt from now on; `nil` removes an earlier
    ///   one.
    func register(
        _ credentials: DeviceCredentials, topic: Topic, team: TeamID, environment: PushEnvironment,
        encryptionKey: RecipientPublicKey?
    ) async throws -> RegistrationOutcome

    /// Ends a registration: later notifications for its token are refused with 410 and the time of this call.
    func unregister(
        _ credentials: DeviceCredentials, topic: Topic, environment: PushEnvironment
    ) async throws -> RegistrationOutcome
}

/// The outcome of a registration.
package enum RegistrationOutcome: Hashable, Sendable {
    /// The app is registered; its device token, 64 hexadecimal digits.
    case token(String)
    /// The registration has ended.
    case unregistered
    /// Unknown device or wrong secret.
    case notAuthenticated
    /// No app of the team has the topic. At an unregistration: no app has it, or the device has no registration for it.
    case unknownTopic
}
