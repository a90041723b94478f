import APNsFrontend
import APNsProtocol
import AldabaConfiguration
import ControlAPI
import DeviceChannel
import FCMFrontend
import FCMProtocol
import Foundation
import HubServer
import Logging
import Metrics
import NIOCore
import NIOPosix
import NIOSSL
import Networking
import Platform
import PushCore
import PushServer
import RelayServer
import SQLiteStore
import ServiceLifecycle

extension ServeCommand {
    /// Puts a server together and runs it until a signal ends it.
    ///
    /// - Parameter ready: Called once, when every listener accepts connections.
    static func serve(
        _ configuration: ServerConfiguration, ready: @escaping @Sendable (ServerAddresses) throws -> Void
    ) async throws {
        try configuration.requireDevelopment(of: [.acceptAnyCredential, .acceptAnyToken])
        let registry = PrometheusRegistry.ofProgram()
        registry.collect(database: configuration.folder.database)
        MetricsSystem.bootstrap(registry)
        let logger = Logger(label: "aldaba.serve")
        let core = try await ServerParts(configuration, logger: logger)
        registry.collect { core.databases.samples }
        let openFiles = DescriptorBudget.raiseLimit()
        let budget = DescriptorBudget(openFiles: openFiles, servesLegacy: configuration.servesLegacy)
        logger.info(
            """
            at most \(openFiles) open files: \(budget.providers) connections of providers, \(budget.devices) of devices, \
            \(budget.control) of the control API
            """)
        let ports = BoundPorts()
        try configuration.ensureDevelopmentCertificates()
        let tls = try ServerCertificate(configuration, faults: core.controls?.faults, logger: logger)
        let values = configuration.values
        let media = try configuration.mediaServices(ports, clock: core.clock)
        let names: @Sendable () -> ServerNames = {
            configuration.names(
                ofCertificate: tls.names, ports: [ports.control.current, ports.http.current].compactMap(\.self))
        }
        let hub = HubParts(core, configuration, names: names)
        let upstream = UpstreamParts(core, hub.http)
        let status = ServerStatus(
            failure: { core.mailboxes.health.failure }, isReady: { ports.allBound.isSet },
            faults: { core.databases.faults }, version: AldabaVersion.number)
        let recorder = MetricsRecorder(read: registry.samples, clock: core.clock)
        var control = try core.controlServices(
            values, media: media, upstream: upstream, hub: hub.interface, status: status, names: names)
        control.people = try core.consolePeople(values, http: hub.http, names: names, audit: control.audit)
        // Before the hubs', which know the paths that were added so far.
        control.interfaces.insert(
            contentsOf: core.registerInterfaces(
                configuration, ports: ports, changes: AuditedChanges(log: control.audit)), at: 0)
        control.interfaces += core.conditionInterfaces(
            core.condition(status, recorder: recorder, certificate: tls, folder: configuration.folder))
        var services: [any Service] = [
            CoreService(parts: core),
            HubService(
                parts: hub, presence: core.presence, lists: core.hubLists, testClock: core.controls?.clock,
                answers: core.webhookAnswers,
                clock: core.clock,
                logger: logger),
            CertificateService(certificate: tls, logger: logger),
            ProviderService(
                parts: core, configuration: configuration, budget: budget, tls: tls, bound: ports.apns.known),
            UpstreamService(parts: core, courier: upstream.courier), ReportService(parts: core),
            DeviceService(
                parts: core, configuration: configuration, budget: budget, tls: tls, upstream: upstream.receiver,
                bound: ports.device.known),
            ControlListener(
                .secured(control, tls: tls.control), host: configuration.host,
                port: values.number(.controlPort),
                admission: configuration.admission(total: budget.control, proof: .seconds(30)), logger: logger,
                bound: ports.control.known),
            ControlListener(
                .metrics(registry, status), host: configuration.metricsHost, port: values.number(.metricsPort),
                admission: .withoutCredentials(total: budget.metrics), logger: logger,
                bound: ports.metrics.known),
        ]
        if values.flag(.development) {
            services.append(
                ControlListener(
                    .development(control), host: values.flag(.testNetwork) ? configuration.host : "127.0.0.1",
                    port: values.number(.httpPort),
                    logger: logger,
                    bound: ports.http.known))
        }
        if configuration.serves(.sharedPort) {
            services.append(
                SharedPortService(configuration: configuration, budget: budget, ports: ports, logger: logger))
        }
        if configuration.servesLegacy {
            services.append(
                LegacyService(parts: core, configuration: configuration, budget: budget, tls: tls, ports: ports))
        }
        services += [RegisterWatchService(parts: core), TopicService(broadcasts: core.broadcasts, logger: logger)]
        services += [
            MediaSweepService(store: media.store), MallocTrimService(),
            DatabaseReadingService(databases: core.databases), MetricsHistoryService(recorder: recorder),
        ]
        services.append(
            ReadyService(
                ports: ports, configuration: configuration, people: core.store, clock: core.clock, ready: ready))
        let group = ServiceGroup(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        do { try await group.run() } catch let failure as ControlListener.Failure {
            throw cannotListen(failure.host, port: failure.port, error: failure.underlying)
        }
    }

    /// Names the listener that failed; the system's own message does not.
    static func cannotListen(_ host: String, port: Int, error: any Error) -> CommandError {
        CommandError(.failed, "cannot listen on \(ServerAddresses.authority(host, port)): \(error)")
    }
}

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
    let tokens: TokenDirectory
    let web: WebRegistrations
    let environment: PushEnvironment
    let mailboxes: MailboxService
    let relay: RelayBroker
    let presence: HubPresence
    let broadcasts: Broadcasts
    let hubLists: HubLists
    let topics: TopicSubscriptions
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

    var store: SQLiteStore { databases.store }

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
        databases = try ServerDatabases(configuration.folder, logger: logger)
        let (store, relayDatabase) = (databases.store, databases.relay)
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
        tokens = TokenDirectory(store: store.register, sealer: sealer)
        web = WebRegistrations(store: store.register, apps: apps)
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
            clock: clock, logger: logger)
        if let controls {
            acceptor = RecordingAcceptor(mailboxes, received: controls.received)
            testClock.follow(mailboxes.clockAdvanced)
        } else {
            acceptor = mailboxes
        }
        relay = RelayBroker(
            register: relayDatabase, queuedMessages: relayDatabase, documents: relayDatabase, clock: clock,
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
        if !kinds.isEmpty {
            logger.warning(
                """
                anybody on this machine can send: unknown credentials or tokens are accepted (accept-any-credential, \
                accept-any-token)
                """)
        }
    }
}

/// Runs mailboxes and store; ends last, when no endpoint asks anything any more.
private struct CoreService: Service, CustomStringConvertible {
    let parts: ServerParts
    /// The service group logs its services by this text: their parts say little, and some are secret.
    var description: String { "mailboxes and store" }

    func run() async throws {
        parts.mailboxes.start()
        try? await gracefulShutdown()
        await parts.mailboxes.stop()
        try parts.databases.close()
    }
}

/// Looks at the register when it has changed, and once a second.
private struct RegisterWatchService: Service, CustomStringConvertible {
    let parts: ServerParts
    var description: String { "register watch" }

    func run() async throws {
        let entries = RegisterEntries(parts.store, hub: parts.databases.hub)
        let watch = RegisterWatch(
            store: parts.store.register, credentials: parts.credentials, apps: parts.apps,
            mailboxes: parts.mailboxes,
            reloadOthers: {
                try await parts.certificates.reload()
                try await parts.serviceAccounts.reload()
            }, entries: { try await entries.all() }, logger: parts.logger)
        // A change comes from another process, and wakes the thread at once.
        let (changes, noted) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        NamedThread.begin("register") { [register = parts.store.register] in
            var seen = register.registerVersion
            repeat {
                register.waitForRegisterChange(since: seen, milliseconds: 1000)
                seen = register.registerVersion
            } while !noted.yield().isTerminated
        }
        // A script that makes a thousand changes has the register read ten times a second, not a thousand.
        await cancelWhenGracefulShutdown {
            await watch.follow(changes) { try? await Task.sleep(for: .milliseconds(100)) }
        }
    }
}

extension AsyncStream.Continuation.YieldResult {
    /// Whether no consumer is left.
    fileprivate var isTerminated: Bool {
        if case .terminated = self { true } else { false }
    }
}

/// Goes on with withdrawals of broadcasts that an earlier run began, and ends what has expired, once a minute.
private struct TopicService: Service, CustomStringConvertible {
    let broadcasts: Broadcasts
    let logger: Logger
    var description: String { "upkeep of broadcasts" }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await attempt { try await broadcasts.resume() }
            while (try? await Task.sleep(for: .seconds(60))) != nil { await attempt { try await broadcasts.sweep() } }
        }
    }

    /// Runs work and logs its failure: the next round, or the next run, repeats whatever the store did not accept.
    private func attempt(_ work: () async throws -> Void) async {
        do { try await work() } catch {
            logger.warning("broadcasts could not be looked after", metadata: [LogKey.error: "\(error)"])
        }
    }
}

/// Gives the system back what a flood of connections took, once they are closed.
private struct MallocTrimService: Service, CustomStringConvertible {
    var description: String { "memory" }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: .seconds(10))) != nil { MallocTrim.giveBack() }
        }
    }
}

/// Deletes the files that have expired, once a minute.
private struct MediaSweepService: Service, CustomStringConvertible {
    let store: MediaStore
    var description: String { "sweep over media" }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: .seconds(60))) != nil {
                // Where the pool has ended, so does the process.
                try? await NIOThreadPool.singleton.runIfActive { store.sweep() }
            }
        }
    }
}

/// Runs the provider API's listener.
private struct ProviderService: Service, CustomStringConvertible {
    let parts: ServerParts
    let configuration: ServerConfiguration
    let budget: DescriptorBudget
    let tls: ServerCertificate
    let bound: @Sendable (Int) -> Void
    var description: String { "provider API" }

    func run() async throws {
        let port = configuration.values.number(.apnsPort)
        let endpoint: ProviderEndpoint
        do {
            endpoint = try await ProviderEndpoint.bind(
                HTTP2Listener.Configuration(
                    host: configuration.host, port: port, tls: tls.provider,
                    limiter: ConnectionLimiter(
                        listener: "apns", configuration.admission(total: budget.providers, proof: .seconds(30)),
                        logger: parts.logger)),
                environment: configuration.environment, credentials: parts.credentials,
                certificates: parts.certificates, apps: parts.apps,
                tokens: parts.tokens, acceptor: parts.mailboxes, onDemand: parts.onDemand, controls: parts.controls,
                on: MultiThreadedEventLoopGroup.singleton)
        } catch { throw ServeCommand.cannotListen(configuration.host, port: port, error: error) }
        bound(endpoint.port)
        try? await gracefulShutdown()
        await endpoint.shutDown()
    }
}

/// Reports the addresses when all are known; then has nothing more to do.
private struct ReadyService: Service, CustomStringConvertible {
    let ports: BoundPorts
    let configuration: ServerConfiguration
    let people: any PeopleStore
    let clock: @Sendable () -> Timestamp
    let ready: @Sendable (ServerAddresses) throws -> Void
    var description: String { "ready notice" }

    func run() async throws {
        let isDevelopment = configuration.values.flag(.development)
        var addresses = ServerAddresses(
            process: ProcessInfo.processInfo.processIdentifier, host: configuration.clientHost,
            apnsPort: try await ports.apns.value(), devicePort: try await ports.device.value(),
            controlPort: try await ports.control.value(),
            httpPort: isDevelopment ? try await ports.http.value() : nil,
            metricsPort: try await ports.metrics.value(),
            legacyPort: configuration.serves(.legacyPort) ? try await ports.legacy.value() : nil,
            legacyFeedbackPort: configuration.serves(.legacyFeedbackPort)
                ? try await ports.legacyFeedback.value() : nil,
            sharedPort: configuration.serves(.sharedPort) ? try await ports.shared.value() : nil,
            environment: configuration.environment.rawValue)
        // A listener on every address is reached on loopback too.
        let metricsHost = configuration.metricsHost
        if !["127.0.0.1", "0.0.0.0", "::"].contains(metricsHost) { addresses.metricsHost = metricsHost }
        ports.allBound.set(true)
        if !isDevelopment {
            try await ConsoleLink.announce(
                in: people, control: addresses.control, folder: configuration.folder, at: clock())
        }
        try ready(addresses)
        // The first work after the start needs some of the same code.
        await cancelWhenGracefulShutdown { try? await Task.sleep(for: .seconds(1)) }
        ProgramPages.giveBackCode()
        try? await gracefulShutdown()
        ports.allBound.set(false)
    }
}

/// The ports of a server's listeners, as they become known.
struct BoundPorts: Sendable {
    /// Whether all of them are known, and the server does not stop yet.
    let allBound = ReadyFlag()
    let apns = Readiness<Int>()
    let device = Readiness<Int>()
    let control = Readiness<Int>()
    let http = Readiness<Int>()
    let metrics = Readiness<Int>()
    let legacy = Readiness<Int>()
    let legacyFeedback = Readiness<Int>()
    let shared = Readiness<Int>()
}

extension Readiness<Int> {
    /// Makes a port known.
    var known: @Sendable (Int) -> Void { { self.settle(.success($0)) } }
}

extension ServerConfiguration {
    /// The world that this server's provider API serves.
    var environment: PushEnvironment {
        values.text(.environment).flatMap(PushEnvironment.init) ?? .production
    }

    /// The admission of a listener that may have `total` connections.
    ///
    /// - Parameter unproven: How many may be without a valid credential. Each makes the server hold up to 16 KiB.
    ///   When a server begins again, all its devices come at once, so that a full listener may hold nothing else.
    func admission(total: Int, unproven: Int = 4096, proof: TimeAmount) -> ConnectionLimiter.Configuration {
        ConnectionLimiter.Configuration(
            limits: .init(
                total: total, perAddress: values.number(.connectionsPerAddress), unproven: min(unproven, total)),
            exempt: values.addressRanges(.proxies), proofTimeout: proof)
    }

    /// The files of notifications, and the address that devices have them by.
    fileprivate func mediaServices(
        _ ports: BoundPorts, clock: @escaping @Sendable () -> Timestamp
    ) throws -> MediaServices {
        let store = try MediaStore(
            folder: folder.media,
            settings: MediaStore.Settings(
                quota: Int64(values.number(.mediaQuota)) << 20,
                teamQuota: values.text(.mediaTeamQuota).flatMap { Int64($0) }.map { $0 << 20 },
                lifetime: Int64(values.number(.mediaExpiry)) * 3_600_000), clock: clock)
        let chosen = values.text(.mediaURL).map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        return MediaServices(store: store) { [clientHost] in
            chosen ?? ports.control.current.map { "https://\(ServerAddresses.authority(clientHost, $0))" }
        }
    }

    /// The address of metrics, health and readiness.
    var metricsHost: String { values.text(.metricsHost) ?? "127.0.0.1" }

    /// The host that clients on this machine should name.
    var clientHost: String { ["0.0.0.0", "::"].contains(host) ? "127.0.0.1" : host }
}

/// Runs the device channel's listener.
private struct DeviceService: Service, CustomStringConvertible {
    let parts: ServerParts
    let configuration: ServerConfiguration
    let budget: DescriptorBudget
    let tls: ServerCertificate
    let upstream: AppMessageReceiver
    let bound: @Sendable (Int) -> Void
    var description: String { "device channel" }

    func run() async throws {
        let port = configuration.values.number(.devicePort)
        var endpointConfiguration = DeviceEndpointConfiguration(host: configuration.host, port: port)
        endpointConfiguration.admission = configuration.admission(
            total: budget.devices, unproven: 16_384, proof: .seconds(15))
        endpointConfiguration.loginsPerSecond = configuration.values.number(.deviceLogins)
        endpointConfiguration.loginBurst = 10 * endpointConfiguration.loginsPerSecond
        let endpoint = DeviceEndpoint(
            configuration: endpointConfiguration,
            tls: tls.plain, gateway: parts.mailboxes,
            upstream: UpstreamRegistry(others: upstream).adding(parts.relay, for: MCSUpstream.relayCategory),
            web: parts.web, sessions: SessionListeners([parts.relay, parts.presence]),
            group: MultiThreadedEventLoopGroup.singleton,
            logger: parts.logger)
        do { bound(try await endpoint.start()) } catch {
            throw ServeCommand.cannotListen(configuration.host, port: port, error: error)
        }
        try? await gracefulShutdown()
        await endpoint.stop()
    }
}
