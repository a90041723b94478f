import APNsWire
import CommandCore
import ConnectionAdmission
import ControlAPI
import DeviceEndpoint
import Foundation
import HTTP2Transport
import Logging
import Metrics
import NIOCore
import NIOPosix
import NIOSSL
import Observability
import ProviderEndpoint
import PushModel
import ServerCore
import ServiceLifecycle
import StoreSQLite

extension ServeCommand {
    /// Puts a server together and runs it until a signal ends it.
    ///
    /// - Parameter ready: Called once, when every listener accepts connections.
    static func serve(
        _ configuration: ServerConfiguration, ready: @escaping @Sendable (ServerAddresses) throws -> Void
    ) async throws {
        let registry = PrometheusRegistry()
        MetricsSystem.bootstrap(registry)
        let logger = Logger(label: "aldaba.serve")
        let core = try await ServerParts(configuration, logger: logger)
        let openFiles = DescriptorBudget.raiseLimit()
        let budget = DescriptorBudget(openFiles: openFiles)
        logger.info(
            """
            at most \(openFiles) open files: \(budget.providers) connections of providers, \(budget.devices) of devices, \
            \(budget.control) of the control API
            """)
        let ports = BoundPorts()
        let tls = try ServerCertificate(configuration, logger: logger)
        let values = configuration.values
        var services: [any Service] = [
            CoreService(parts: core), CertificateService(certificate: tls, logger: logger),
            ProviderService(
                parts: core, configuration: configuration, budget: budget, tls: tls, bound: ports.apns.known),
            DeviceService(
                parts: core, configuration: configuration, budget: budget, tls: tls, bound: ports.device.known),
            ControlListener(
                .secured(try core.controlServices(values), tls: tls.plain), host: configuration.host,
                port: values.number(.controlPort),
                admission: configuration.admission(total: budget.control, proof: .seconds(30)), logger: logger,
                bound: ports.control.known),
            ControlListener(
                .metrics(registry, core.mailboxes.health), port: values.number(.metricsPort), logger: logger,
                bound: ports.metrics.known),
        ]
        if values.flag(.development) {
            services.append(
                ControlListener(
                    .development(try core.controlServices(values)), port: values.number(.httpPort), logger: logger,
                    bound: ports.http.known))
        }
        services.append(RegisterWatchService(parts: core))
        services.append(ReadyService(ports: ports, configuration: configuration, ready: ready))
        let group = ServiceGroup(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        do { try await group.run() } catch let failure as ControlListener.Failure {
            throw cannotListen(failure.host, failure.port, failure.underlying)
        }
    }

    /// Names the listener that failed; the system's own words do not.
    fileprivate static func cannotListen(_ host: String, _ port: Int, _ error: any Error) -> CommandFailure {
        CommandFailure(.failed, "cannot listen on \(ServerAddresses.authority(host, port)): \(error)")
    }
}

/// The parts of a server that listen to nobody.
struct ServerParts: Sendable {
    let store: SQLiteStore
    let apps: AppDirectory
    let credentials: CredentialDirectory
    let tokens: TokenDirectory
    let mailboxes: MailboxService
    let logger: Logger

    init(_ configuration: ServerConfiguration, logger: Logger) async throws {
        self.logger = logger
        store = try SQLiteStore(path: configuration.folder.database)
        guard
            let sealer = DeviceTokenSealer(keys: try SealingKeys.ensure(configuration.folder.sealingKeys).wrappedValue)
        else {
            throw CommandFailure(.failed, "\(configuration.folder.sealingKeys) holds no usable key")
        }
        apps = AppDirectory(store: store, clock: presentTime)
        credentials = CredentialDirectory(store: store, clock: presentTime)
        tokens = TokenDirectory(store: store, sealer: sealer)
        try await apps.reload()
        try await credentials.reload()
        mailboxes = try MailboxService(
            store: store, node: 0, loop: MultiThreadedEventLoopGroup(numberOfThreads: 1).next(),
            settings: MailboxService.Settings(), clock: presentTime, logger: logger)
    }

    func controlServices(_ values: ConfigurationValues) throws -> ControlServices {
        let isOpen = values.flag(.enrolmentOpen) || values.flag(.development)
        return ControlServices(
            enrolment: Enrolment(
                store: store, apps: apps, tokens: tokens, mailboxes: mailboxes, cell: 0, clock: presentTime),
            timelines: Timelines(store: store, mailboxes: mailboxes), authentication: credentials,
            enrolmentAccess: isOpen ? .open : try values.enrolmentKey().map { .key($0) } ?? .closed,
            health: mailboxes.health, clock: presentTime)
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
        try parts.store.close()
    }
}

/// Looks at the register once a second.
private struct RegisterWatchService: Service, CustomStringConvertible {
    let parts: ServerParts
    var description: String { "register watch" }

    func run() async throws {
        let watch = RegisterWatch(
            store: parts.store, credentials: parts.credentials, apps: parts.apps, mailboxes: parts.mailboxes,
            logger: parts.logger)
        await cancelWhenGracefulShutdown {
            // The sleep ends early when the server stops, and then there is nothing more to look at.
            while (try? await Task.sleep(for: .seconds(1))) != nil { await watch.look() }
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
                environment: configuration.environment, credentials: parts.credentials, apps: parts.apps,
                tokens: parts.tokens, acceptor: parts.mailboxes, on: MultiThreadedEventLoopGroup.singleton)
        } catch { throw ServeCommand.cannotListen(configuration.host, port, error) }
        bound(endpoint.port)
        try? await gracefulShutdown()
        await endpoint.shutDown()
    }
}

/// Tells the addresses when all are known; then has nothing more to do.
private struct ReadyService: Service, CustomStringConvertible {
    let ports: BoundPorts
    let configuration: ServerConfiguration
    let ready: @Sendable (ServerAddresses) throws -> Void
    var description: String { "ready notice" }

    func run() async throws {
        let isDevelopment = configuration.values.flag(.development)
        let addresses = ServerAddresses(
            process: ProcessInfo.processInfo.processIdentifier, host: configuration.clientHost,
            apnsPort: try await ports.apns.value(), devicePort: try await ports.device.value(),
            controlPort: try await ports.control.value(),
            httpPort: isDevelopment ? try await ports.http.value() : nil,
            metricsPort: try await ports.metrics.value(), environment: configuration.environment.rawValue)
        try ready(addresses)
        try? await gracefulShutdown()
    }
}

/// The ports of a server's listeners, as they become known.
private struct BoundPorts: Sendable {
    let apns = Readiness<Int>()
    let device = Readiness<Int>()
    let control = Readiness<Int>()
    let http = Readiness<Int>()
    let metrics = Readiness<Int>()
}

extension Readiness<Int> {
    /// Makes a port known.
    fileprivate var known: @Sendable (Int) -> Void { { self.settle(.success($0)) } }
}

extension ServerConfiguration {
    /// The world that this server's provider API serves.
    var environment: PushEnvironment {
        values.text(.environment).flatMap(PushEnvironment.init) ?? .production
    }

    /// The admission of a listener that may have `total` connections.
    ///
    /// - Parameter unproven: How many may be without a valid credential. Each makes the server hold up to 16 KiB;
    ///   and when a server begins again, all its devices come at once.
    func admission(total: Int, unproven: Int = 4096, proof: TimeAmount) -> ConnectionLimiter.Configuration {
        ConnectionLimiter.Configuration(
            limits: .init(
                total: total, perAddress: values.number(.connectionsPerAddress),
                unproven: min(unproven, max(8, total / 2))),
            exempt: values.addressRanges(.proxies), proofTimeout: proof)
    }

    /// The host that clients on this machine should name.
    var clientHost: String { ["0.0.0.0", "::"].contains(host) ? "127.0.0.1" : host }
}

/// Runs the device channel's listener.
private struct DeviceService: Service, CustomStringConvertible {
    let parts: ServerParts
    let configuration: ServerConfiguration
    let budget: DescriptorBudget
    let tls: ServerCertificate
    let bound: @Sendable (Int) -> Void
    var description: String { "device channel" }

    func run() async throws {
        let port = configuration.values.number(.devicePort)
        var endpointConfiguration = DeviceEndpointConfiguration(host: configuration.host, port: port)
        endpointConfiguration.admission = configuration.admission(
            total: budget.devices, unproven: 16_384, proof: .seconds(15))
        let endpoint = DeviceEndpoint(
            configuration: endpointConfiguration,
            tls: tls.plain, gateway: parts.mailboxes, group: MultiThreadedEventLoopGroup.singleton,
            logger: parts.logger)
        do { bound(try await endpoint.start()) } catch {
            throw ServeCommand.cannotListen(configuration.host, port, error)
        }
        try? await gracefulShutdown()
        await endpoint.stop()
    }
}
