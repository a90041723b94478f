import APNsFrontend
import APNsProtocol
import AldabaConfiguration
import ControlAPI
import FCMFrontend
import FCMProtocol
import HubServer
import Logging
import Metrics
import Networking
import Platform
import PushCore
import PushServer
import ServiceLifecycle

extension ServeCommand {
    /// Puts a server together and runs it until a signal ends it.
    ///
    /// - Parameter ready: Called once, when every listener accepts connections.
    static func serve(
        _ configuration: ServerConfiguration, ready: @escaping @Sendable (ServerAddresses) throws -> Void
    ) async throws {
        try configuration.requireDevelopment(of: [.acceptAnyCredential, .acceptAnyToken])
        try FolderStore.bind(configuration.folder, to: configuration.values.text(.postgres))
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
        let media = try configuration.mediaServices(
            ports, shared: core.shareMedia(try values.mediaBucket(), logger: logger), clock: core.clock)
        let names: @Sendable () -> ServerNames = {
            configuration.names(
                ofCertificate: tls.names,
                ports: [ports.control.current, ports.http.current].compactMap(\.self) + configuration.loadBalancerPorts)
        }
        let hub = HubParts(core, configuration, names: names)
        let upstream = UpstreamParts(core, hub.http)
        let status = ServerStatus(
            failure: { core.mailboxes.health.failure }, isReady: { ports.allBound.isSet },
            faults: { core.databases.faults }, version: AldabaVersion.number)
        let recorder = MetricsRecorder(read: registry.samples, clock: core.clock)
        var control = try core.controlServices(
            values, media: media, upstream: upstream, hub: hub, status: status, names: names)
        control.loadBalancerPorts = configuration.loadBalancerPorts
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
            CertificateReloadService(certificate: tls, logger: logger),
            ProviderService(
                parts: core, configuration: configuration, budget: budget, tls: tls, bound: ports.apns.known),
            UpstreamService(parts: core, courier: upstream.courier), ReportService(parts: core),
            DeviceService(
                parts: core, configuration: configuration, budget: budget, tls: tls, upstream: upstream.receiver,
                ports: ports, bound: ports.device.known),
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
        services += [
            RegisterWatchService(parts: core),
            TopicService(
                broadcasts: core.broadcasts, isOnDuty: { core.mailboxes.hasDuties }, logger: logger),
        ]
        services += [
            MediaSweepService(store: media.store, logger: logger), MallocTrimService(),
            DatabaseReadingService(databases: core.databases), MetricsHistoryService(recorder: recorder),
        ]
        services.append(
            ReadyService(
                ports: ports, configuration: configuration, people: core.store.people, clock: core.clock, ready: ready))
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
