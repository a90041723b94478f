import PushModel
import WebPushWire

/// What a server keeps of FCM's enrolment beside devices and registrations; a port that stores implement.
public protocol FCMRegister: Sendable {
    /// Keeps what a browser's registration consists of, in place of an earlier one; `nil` takes it away. The end of the
    /// registration takes it away too.
    func keepWebRegistration(
        _ registration: WebRegistration?, device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws

    /// Keeps a browser's registration in place of the one that was read, where that is still what is kept, but for the instant of
    /// its registration.
    ///
    /// - Returns: `false` where it has changed meanwhile or ended; nothing is kept then.
    func changeWebRegistration(
        _ kept: KeptWebRegistration, to registration: WebRegistration, at now: Timestamp
    ) async throws -> Bool

    /// The browsers' registrations of a device.
    func webRegistrations(of device: DeviceID) async throws -> [KeptWebRegistration]

    /// The browsers' registrations whose keys an installation told.
    func webRegistrations(ofInstallation id: String, team: TeamID) async throws -> [KeptWebRegistration]

    /// The devices that have registrations of browsers, in no order.
    func devicesWithWebRegistrations() async throws -> [DeviceID]

    /// Keeps an installation, in place of an earlier one of the same team and id, where the key by which it comes has room for it
    /// (``EnrolmentKey/installationLimit``). It takes the room until it is removed.
    ///
    /// - Parameter keyHash: The hash of the secret of a key of the register's; `nil` where none was needed.
    /// - Returns: `false` where there is no room; nothing is kept then.
    func keepInstallation(_ installation: Installation, byKey keyHash: [UInt8]?) async throws -> Bool

    /// The installation of an id; `nil` when there is none.
    func installation(_ id: String, team: TeamID) async throws -> Installation?

    /// Deletes an installation; `false` when there is none.
    func removeInstallation(_ id: String, team: TeamID) async throws -> Bool
}

/// A browser's registration, with the place where it is kept.
public struct KeptWebRegistration: Hashable, Sendable {
    /// The device.
    public var device: DeviceID
    /// The app.
    public var app: AppID
    /// The environment of the device token.
    public var environment: PushEnvironment
    /// What was registered.
    public var registration: WebRegistration
    /// When the device registered it last, or its keys were told.
    public var registeredAt: Timestamp

    /// Brings the parts together.
    public init(
        device: DeviceID, app: AppID, environment: PushEnvironment, registration: WebRegistration,
        registeredAt: Timestamp
    ) {
        self.device = device
        self.app = app
        self.environment = environment
        self.registration = registration
        self.registeredAt = registeredAt
    }

    /// Whether a browser has it, and not a library that registers the app itself, as Android's do.
    public func isOfBrowser(_ app: RegisteredApp) -> Bool { registration.category != app.topic.rawValue }
}

/// One installation of an app, as FCM's libraries make them before they register.
public struct Installation: Hashable, Sendable {
    /// The id that the library chose, or the server.
    public var id: String
    /// The project.
    public var team: TeamID
    /// The app's id at the project, as the library says it.
    public var appID: String
    /// SHA-256 of the refresh token.
    @Secret public var refreshHash: [UInt8]
    /// When it was made.
    public var createdAt: Timestamp

    /// Brings the parts together.
    public init(id: String, team: TeamID, appID: String, refreshHash: [UInt8], createdAt: Timestamp) {
        self.id = id
        self.team = team
        self.appID = appID
        self.refreshHash = refreshHash
        self.createdAt = createdAt
    }
}
