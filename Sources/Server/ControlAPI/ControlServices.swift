import FCMFrontend
import PushCore
import PushServer

/// The services of the control API, and the checks of access to them.
public struct ControlServices: Sendable {
    /// Enrols devices and registers apps on them.
    public var enrolment: any EnrolmentService
    /// Registers apps in browsers' form; `nil` for a server without such clients.
    public var webEnrolment: WebEnrolment?
    /// Returns the public keys of registrations.
    public var encryptionKeys: any EncryptionKeyService
    /// Returns timelines.
    public var timelines: any TimelineService
    /// Withdraws notifications.
    public var withdrawal: any NotificationWithdrawal
    /// Checks the provider tokens of requests for timelines.
    public var authentication: any ProviderAuthentication
    /// The rules by which new devices may enrol.
    public var enrolmentAccess: EnrolmentAccess
    /// The register's keys for enrolment; `nil` for a server that has only the configured one.
    public var enrolmentKeys: (any EnrolmentKeyRegister)?
    /// The server's status.
    public var status: ServerStatus
    /// The files of notifications; `nil` for a server that keeps none.
    public var media: MediaServices?
    /// Changes the topics of apps on devices; `nil` for a server without topics.
    public var topics: (any DeviceTopics)?
    /// Withdraws broadcasts; `nil` for a server without them.
    public var broadcasts: (any BroadcastWithdrawal)?
    /// Interfaces of other modules on the same listeners.
    package var interfaces: [any ControlInterface] = []
    /// The present time in responses to devices.
    public var clock: @Sendable () -> Timestamp

    /// Creates an instance from its properties.
    public init(
        enrolment: any EnrolmentService, encryptionKeys: any EncryptionKeyService,
        timelines: any TimelineService, withdrawal: any NotificationWithdrawal,
        authentication: any ProviderAuthentication, enrolmentAccess: EnrolmentAccess, health: StoreHealth,
        media: MediaServices? = nil, clock: @escaping @Sendable () -> Timestamp
    ) {
        self.enrolment = enrolment
        self.encryptionKeys = encryptionKeys
        self.timelines = timelines
        self.withdrawal = withdrawal
        self.authentication = authentication
        self.enrolmentAccess = enrolmentAccess
        status = ServerStatus(failure: { health.failure })
        self.media = media
        self.clock = clock
    }
}
