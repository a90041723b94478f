import Console
import FCMFrontend
import PushCore
import PushServer

/// The services of the control API, and the checks of access to them.
package struct ControlServices: Sendable {
    /// Enrols devices and registers apps on them.
    package var enrolment: any EnrolmentService
    /// Registers apps in browsers' form; `nil` for a server without such clients.
    package var webEnrolment: WebEnrolment?
    /// Returns the public keys of registrations.
    package var encryptionKeys: any EncryptionKeyService
    /// Returns timelines.
    package var timelines: any TimelineService
    /// Withdraws notifications.
    package var withdrawal: any NotificationWithdrawal
    /// Checks the provider tokens of requests for timelines.
    package var authentication: any ProviderAuthentication
    /// The rules by which new devices may enrol.
    package var enrolmentAccess: EnrolmentAccess
    /// The register's keys for enrolment; `nil` for a server that has only the configured one.
    package var enrolmentKeys: (any EnrolmentKeyRegister)?
    /// The server's status.
    package var status: ServerStatus
    /// The files of notifications; `nil` for a server that keeps none.
    package var media: MediaServices?
    /// Changes the topics of apps on devices; `nil` for a server without topics.
    package var topics: TopicSubscriptions?
    /// Has apps on devices follow broadcast channels; `nil` for a server without them.
    package var broadcastChannels: BroadcastChannels?
    /// Makes subscriptions of Web Push for agents; `nil` for a server without browsers.
    package var channels: ChannelRegistrations?
    /// Withdraws broadcasts; `nil` for a server without them.
    package var broadcasts: Broadcasts?
    /// Remembers requests and has faults, for tests; `nil` on a server that is not for development.
    package var controls: TestControls?
    /// Finds the team of any provider's credential, for what tests ask.
    package var senders: any ProviderAuthentication
    /// The project that a team's service accounts were made for.
    package var project: @Sendable (TeamID) -> String = ProjectName.id
    /// The store of notifications' contents; `nil` for a server that does not show them.
    package var inventory: (any InventoryStore)?
    /// The audit log; `nil` for a server that keeps none.
    package var audit: AuditLog?
    /// The pages for people; `nil` for a server without them.
    package var console: Console?
    /// The people who use the pages over TLS; `nil` for a server that shows them on loopback alone.
    package var people: ConsolePeople?
    /// The ports of a load balancer on this machine that passes connections on to the listeners.
    package var loadBalancerPorts: [Int] = []
    /// Interfaces of other modules on the same listeners.
    package var interfaces: [any ControlInterface] = []
    /// The present time in responses to devices.
    package var clock: @Sendable () -> Timestamp

    /// Creates an instance from its properties.
    package init(
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
        senders = authentication
        self.enrolmentAccess = enrolmentAccess
        status = ServerStatus(failure: { health.failure })
        self.media = media
        self.clock = clock
    }
}
