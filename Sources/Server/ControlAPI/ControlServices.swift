import PushModel
import ServerCore

/// What the control API serves: the server's use cases, and who may use them.
public struct ControlServices: Sendable {
    /// Enrols devices and registers apps on them.
    public var enrolment: any EnrolmentService
    /// Answers for timelines.
    public var timelines: any TimelineService
    /// Judges the provider tokens of those who ask for timelines.
    public var authentication: any ProviderAuthentication
    /// Which new devices may enrol.
    public var enrolmentAccess: EnrolmentAccess
    /// Whether the store commits.
    public var health: StoreHealth
    /// The present, for what devices are told.
    public var clock: @Sendable () -> Timestamp

    /// Brings the parts together.
    public init(
        enrolment: any EnrolmentService, timelines: any TimelineService, authentication: any ProviderAuthentication,
        enrolmentAccess: EnrolmentAccess, health: StoreHealth,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.enrolment = enrolment
        self.timelines = timelines
        self.authentication = authentication
        self.enrolmentAccess = enrolmentAccess
        self.health = health
        self.clock = clock
    }
}
