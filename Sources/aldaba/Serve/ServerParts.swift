import APNsProtocol
import AldabaConfiguration
import ControlAPI
import FCMFrontend
import FCMProtocol
import HubServer
import Logging
import NIOPosix
import Networking
import Platform
import PostgresStore
import PushCore
import PushServer
import RelayServer
import SQLiteStore
import WebPushProtocol

/// The parts of a server that have no listeners.
struct ServerParts: Sendable {
    let databases: ServerDatabases
    let apps: AppDirectory
    let credentials: CredentialDirectory
    let certificates: CertificateDirectory
    let serviceAccounts: ServiceAccountDirectory
    let accessTokens: AccessTokenSealer
    let deviceSecrets: DeviceSecrets
    let serverKeys: ServerKeySealer?
    /// The keys of chat servers' gateways.
    let gatewayKeys: ServerKeySealer?
    let tokens: TokenDirectory
    /// Seals the addresses of browsers' subscriptions.
    let subscriptions: SubscriptionSealer
    let web: WebRegistrations
    let environment: PushEnvironment
    let mailboxes: MailboxService
    /// The parts of a node of several; `nil` for a server that is alone.
    let node: NodeParts?
    let relay: RelayBroker
    let presence: HubPresence
    let broadcasts: Broadcasts
    let hubLists: HubLists
    let topics: TopicSubscriptions
    let channels: BroadcastChannels
    /// Adds what a provider names and the register does not have; `nil` on a server that refuses it.
    let onDemand: OnDemandRegister?
    /// The same for the tokens of FCM's interfaces.
    let onDemandTokens: OnDemandTokens?
    /// The last answers of webhooks.
    let webhookAnswers = WebhookAnswers()
    /// Accepts notifications; on a development server with a memory for tests.
    let acceptor: any NotificationAcceptor
    /// Remembers requests and has faults, for tests; `nil` on a server that is not for development.
    let controls: TestControls?
    /// The server's clock.
    let clock: @Sendable () -> Timestamp
    /// The server's time at a time of the senders' clocks: tests may have advanced the server's.
    let senderTime: @Sendable (Timestamp) -> Timestamp
    let logger: Logger
    /// The cell that device tokens name.
    static let cell: UInt16 = 0

    var store: any ServerStore { databases.store }

    init(_ configuration: ServerConfiguration, logger: Logger) async throws {
        self.logger = logger
        let testClock = TestClock(presentTime)
        controls =
            configuration.values.flag(.development)
            ? TestControls(
                clock: testClock, hasExpiredCertificate: configuration.values.text(.certificate) == nil) : nil
        let clock: @Sendable () -> Timestamp = { testClock.now }
        self.clock = clock
        senderTime = testClock.time(ofMachine:)
        databases = try ServerDatabases(
            configuration.folder, isNode: try NodeParts.address(configuration.values) != nil, logger: logger)
        let (store, relayDatabase) = (databases.store, databases.relay)
        node = try NodeParts(configuration, store: store, logger: logger)
        let sealingKeys = try SealingKeys.ensure(configuration.folder.sealingKeys).wrappedValue
        guard let sealer = DeviceTokenSealer(keys: sealingKeys),
            let accessTokens = AccessTokenSealer(secrets: sealingKeys)
        else {
            throw CommandError(.failed, "\(configuration.folder.sealingKeys) holds no usable key")
        }
        apps = AppDirectory(store: store.register, clock: clock)
        let acceptsAny = configuration.values.flag(.acceptAnyCredential)
        credentials = CredentialDirectory(
            store: store.register, acceptsUnknownKeys: acceptsAny, senderTime: senderTime, clock: clock)
        certificates = CertificateDirectory(store: store.register, acceptsUnknown: acceptsAny, clock: clock)
        serviceAccounts = ServiceAccountDirectory(
            store: store.register, acceptsUnknown: acceptsAny, clock: clock)
        self.accessTokens = accessTokens
        deviceSecrets = DeviceSecrets(keys: sealingKeys)
        serverKeys = ServerKeySealer(secrets: sealingKeys)
        gatewayKeys = ServerKeySealer(secrets: sealingKeys, purpose: .gateway)
        tokens = TokenDirectory(store: store.register, sealer: sealer)
        subscriptions = SubscriptionSealer(keys: sealingKeys)
        web = WebRegistrations(store: store.register, apps: apps, isShared: configuration.values.text(.nats) != nil)
        environment = configuration.environment
        try await apps.reload()
        try await credentials.reload()
        try await certificates.reload()
        try await serviceAccounts.reload()
        try await web.load()
        hubLists = HubLists(store: databases.hub, sealer: sealer, clock: clock)
        mailboxes = try MailboxService(
            store: store, node: 0, loop: MultiThreadedEventLoopGroup(numberOfThreads: 1).next(),
            settings: MailboxService.Settings(), apps: apps, lists: hubLists, received: controls?.received,
            carrier: node?.carrier, clock: clock, logger: logger)
        if let controls {
            acceptor = RecordingAcceptor(mailboxes, received: controls.received)
            testClock.follow(mailboxes.clockAdvanced)
        } else {
            acceptor = mailboxes
        }
        if node != nil, let number = mailboxes.nodeNumber {
            // The service has it as a listener.
            _ = FeedExchange(mailboxes.feed, mailboxes, node: number)
        }
        relay = RelayBroker(
            register: relayDatabase, queuedMessages: relayDatabase, documents: relayDatabase,
            sharing: node == nil ? nil : Self.sharing(mailboxes, relayDatabase), clock: clock,
            schedule: { milliseconds, work in
                MultiThreadedEventLoopGroup.singleton.next().scheduleTask(in: .milliseconds(milliseconds), work)
            }, fault: { relayDatabase.health.fault?.reason }, logger: logger)
        presence = HubPresence(register: store.register, sealer: sealer, cell: Self.cell, clock: clock)
        broadcasts = Broadcasts(store: store, mailboxes: mailboxes, clock: clock)
        var kinds: OnDemandRegister.Kinds = acceptsAny ? .apps : []
        if configuration.values.flag(.acceptAnyToken) { kinds.insert(.tokens) }
        onDemand =
            kinds.isEmpty
            ? nil
            : OnDemandRegister(
                kinds, store: store.register, apps: apps, tokens: tokens,
                enrolment: Enrolment(
                    store: store.register, apps: apps, tokens: tokens, mailboxes: mailboxes, cell: Self.cell,
                    secrets: deviceSecrets, logger: logger, clock: clock), mailboxes: mailboxes,
                environment: environment, arrived: ArrivalReport.write)
        if let onDemand {
            onDemandTokens = OnDemandTokens(onDemand, accounts: serviceAccounts, tokens: tokens)
        } else {
            onDemandTokens = nil
        }
        topics = TopicSubscriptions(
            store: store, apps: apps, tokens: tokens, delivery: mailboxes, onDemand: onDemandTokens,
            clock: clock)
        channels = BroadcastChannels(
            register: store.register, broadcasts: broadcasts, subscriptions: topics, clock: clock)
        if !kinds.isEmpty {
            logger.warning(
                """
                anybody on this machine can send: unknown credentials or tokens are accepted (accept-any-credential, \
                accept-any-token)
                """)
        }
    }

    /// Begins to share files with the other servers; `nil` for a server that is alone.
    func shareMedia(_ bucket: S3Bucket?, logger: Logger) -> MediaPeers? {
        guard node != nil, let number = mailboxes.nodeNumber, let store = store as? PostgresStore else { return nil }
        let register = MediaRegister(in: store.media, node: number)
        return MediaPeers(
            register: register, copies: MediaCopies(mailboxes, node: number),
            objects: bucket.map { MediaObjects($0, register: register, logger: logger) })
    }

    /// The other servers, as the relay of one of them sees them.
    private static func sharing(_ messenger: MailboxService, _ database: RelayDatabase) -> RelaySharing? {
        messenger.nodeNumber.map { RelaySharing(node: $0, messenger: messenger, database: database) }
    }
}
