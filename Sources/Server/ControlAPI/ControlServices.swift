import PushModel
import ServerCore

/// What the control API serves: the server's use cases, and who may use them.
public struct ControlServices: Sendable {
    public var enrolment: any EnrolmentService
    public var timelines: any TimelineService
    public var authentication: any ProviderAuthentication
    public var enrolmentAccess: EnrolmentAccess
    public var health: StoreHealth
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
