import ControlHTTP
import DeviceEnrolment
import FCMEnrolment
import PushModel
import RegisterCore
import ServerCore

/// What the control API serves: the server's use cases, and who may use them.
public struct ControlServices: Sendable {
    /// Enrols devices and registers apps on them.
    public var enrolment: any EnrolmentService
    /// Registers apps as browsers do; `nil` for a server without such clients.
    public var webEnrolment: WebEnrolment?
    /// Answers for the public keys of registrations.
    public var encryptionKeys: any EncryptionKeyService
    /// Answers for timelines.
    public var timelines: any TimelineService
    /// Takes notifications back.
    public var withdrawal: any NotificationWithdrawal
    /// Judges the provider tokens of those who ask for timelines.
    public var authentication: any ProviderAuthentication
    /// Which new devices may enrol.
    public var enrolmentAccess: EnrolmentAccess
    /// The register's keys for enrolment; `nil` for a server that has only the configured one.
    public var enrolmentKeys: (any EnrolmentKeyRegister)?
    /// How the server is.
    public var status: ServerStatus
    /// The files of notifications; `nil` for a server that keeps none.
    public var media: MediaServices?
    /// Takes topics of apps on devices; `nil` for a server that has none.
    public var topics: (any DeviceTopics)?
    /// Takes broadcasts back; `nil` for a server that has none.
    public var broadcasts: (any BroadcastWithdrawal)?
    /// Interfaces of other rooms on the same listeners.
    package var interfaces: [any ControlInterface] = []
    /// The present, for what devices are told.
    public var clock: @Sendable () -> Timestamp

    /// Brings the parts together.
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
