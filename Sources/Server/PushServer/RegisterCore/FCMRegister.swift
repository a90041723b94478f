import FCMProtocol
import PushCore

/// Storage of FCM's enrolment in addition to devices and registrations; a port that stores implement.
package protocol FCMRegister: Sendable {
    /// Stores the data of a browser's registration, in place of an earlier one; `nil` removes it. The end of the
    /// registration removes it too.
    func keepWebRegistration(
        _ registration: WebRegistration?, device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws

    /// Keeps a browser's registration in place of the one that was read, where that is still what is kept, but for the instant of
    /// its registration.
    ///
    /// - Returns: `false` where it has changed meanwhile or ended; nothing is kept then.
    func changeWebRegistration(
        _ kept: StoredWebRegistration, to registration: WebRegistration, at now: Timestamp
    ) async throws -> Bool

    /// The browsers' registrations of a device.
    func webRegistrations(of device: DeviceID) async throws -> [StoredWebRegistration]

    /// The browser registrations whose keys an installation set.
    func webRegistrations(ofInstallation id: String, team: TeamID) async throws -> [StoredWebRegistration]

    /// The devices that have browser registrations, in no order.
    func devicesWithWebRegistrations() async throws -> [DeviceID]

    /// Stores an installation, in place of an earlier one of the same team and id, unless its key has reached
    /// ``EnrolmentKey/installationLimit``. It counts towards the limit until it is removed.
    ///
    /// - Parameter keyHash: The hash of the secret of a key in the register; `nil` where none was needed.
    /// - Returns: `false` where the limit is reached; nothing is stored then.
    func keepInstallation(_ installation: Installation, byKey keyHash: [UInt8]?) async throws -> Bool

    /// The installation with an id; `nil` when there is none.
    func installation(_ id: String, team: TeamID) async throws -> Installation?

    /// Deletes an installation; `false` when there is none.
    func removeInstallation(_ id: String, team: TeamID) async throws -> Bool
}

extension FCMRegister where Self: RegisterStore {
    /// The active registrations of an installation of the team.
    ///
    /// - Throws: An error when the store cannot be read.
    package func activeRegistrations(ofInstallation id: String, team: TeamID) async throws -> [TokenSubject] {
        var found: [TokenSubject] = []
        for kept in try await webRegistrations(ofInstallation: id, team: team) {
            let registration = try await registration(device: kept.device, app: kept.app, environment: kept.environment)
            guard let registration, registration.endedAt == nil else { continue }
            found.append(
                TokenSubject(
                    cell: 0, device: kept.device, app: kept.app, environment: kept.environment,
                    generation: registration.generation))
        }
        return found
    }
}

/// A browser's registration, with its device, app and environment.
package struct StoredWebRegistration: Hashable, Sendable {
    /// The device.
    package var device: DeviceID
    /// The app.
    package var app: AppID
    /// The environment of the device token.
    package var environment: PushEnvironment
    /// The data of the registration.
    package var registration: WebRegistration
    /// When the device registered it last, or its keys were told.
    package var registeredAt: Timestamp

    /// Brings the parts together.
    package init(
        device: DeviceID, app: AppID, environment: PushEnvironment, registration: WebRegistration,
        registeredAt: Timestamp
    ) {
        self.device = device
        self.app = app
        self.environment = environment
        self.registration = registration
        self.registeredAt = registeredAt
    }

    /// Whether it belongs to a browser, and not to a library that registers the app itself, as Android's do.
    package func isOfBrowser(_ app: RegisteredApp) -> Bool { registration.category != app.topic.rawValue }
}

/// An installation of an app, which FCM's libraries make before they register.
package struct Installation: Hashable, Sendable {
    /// The id that the library or the server chose.
    package var id: String
    /// The project.
    package var team: TeamID
    /// The app's id at the project, as the library sent it.
    package var appID: String
    /// SHA-256 of the refresh token.
    @Secret package var refreshHash: [UInt8]
    /// The time at which it was made.
    package var createdAt: Timestamp

    /// Creates an instance from its properties.
    package init(id: String, team: TeamID, appID: String, refreshHash: [UInt8], createdAt: Timestamp) {
        self.id = id
        self.team = team
        self.appID = appID
        self.refreshHash = refreshHash
        self.createdAt = createdAt
    }
}
