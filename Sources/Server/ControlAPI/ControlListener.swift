import Console
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOSSL
import Networking
import PushServer
import ServiceLifecycle
import Synchronization

/// A listener of the control API, as a service: it runs until it is asked to stop, and then lets open requests finish.
package struct ControlListener: Service, CustomStringConvertible {
    /// The interface that a listener offers.
    package enum Interface: Sendable {
        /// Enrolment and timelines over TLS; a timeline needs a provider token. `tls` returns the certificate for each
        /// connection.
        case secured(ControlServices, tls: @Sendable () -> NIOSSLContext)
        /// The same in plain http and without tokens, for development on loopback.
        case development(ControlServices)
        /// The routes `/metrics`, `/health` and `/ready` in plain http, without authentication.
        case metrics(PrometheusRegistry, ServerStatus)
        /// Pages for the person at this machine, in plain http on loopback. They authenticate their readers themselves.
        case pages(any ControlInterface)

        /// The services of the control API; `nil` for other interfaces.
        var services: ControlServices? {
            switch self {
            case .secured(let services, _), .development(let services): services
            case .metrics, .pages: nil
            }
        }

        /// The rule of access to the console; `nil` where there is none.
        var consoleAccess: ConsoleAccess? {
            switch self {
            case .secured(let services, _): services.people.map { .people($0) }
            case .development: .open
            case .metrics, .pages: nil
            }
        }

        /// Whether connections without a credential are read more slowly after refusals. The tests of a development server are
        /// refused on purpose.
        fileprivate var slowsRefusals: Bool {
            if case .development = self { false } else { true }
        }

        /// The listener's name in metrics and log lines.
        fileprivate var name: String {
            switch self {
            case .secured, .development: "control"
            case .metrics: "metrics"
            case .pages: "pages"
            }
        }
    }

    /// A listener that could not be bound, or that failed later.
    package struct Failure: Error {
        /// The address that was to be bound.
        package var host: String
        /// The port that was to be bound; 0 for a free one.
        package var port: Int
        /// The error of the system or the server library.
        package var underlying: any Error
    }

    private let interface: Interface
    private let host: String
    private let port: Int
    private let grace: Duration
    private let limiter: ConnectionLimiter
    private let logger: Logger
    private let bound: @Sendable (Int) -> Void

    /// Makes a listener; ``run()`` binds it.
    ///
    /// - Parameters:
    ///   - host: The IP address to bind; pages always bind `127.0.0.1`.
    ///   - port: 0 for a free one.
    ///   - grace: How long open requests may take to end once the listener is asked to stop.
    ///   - admission: The connections that are kept. Those of the metrics are closed for new ones, the oldest first,
    ///     since nobody shows a credential there; the development interface admits all.
    ///   - bound: Called once with the port when connections are accepted.
    package init(
        _ interface: Interface, host: String = "127.0.0.1", port: Int, grace: Duration = .seconds(2),
        admission: ConnectionLimiter.Configuration = ConnectionLimiter.Configuration(
            limits: .init(total: 4096, perAddress: 4096, unproven: 4096)), logger: Logger,
        bound: @escaping @Sendable (Int) -> Void
    ) {
        self.interface = interface
        self.port = port
        self.grace = grace
        limiter = ConnectionLimiter(listener: interface.name, admission, logger: logger)
        self.logger = logger
        self.bound = bound
        switch interface {
        case .pages: self.host = "127.0.0.1"
        case .secured, .development, .metrics: self.host = host
        }
    }

    /// The interface's name. The associated values are left out, since some are secret.
    package var description: String {
        switch interface {
        case .secured: "control API"
        case .development: "control API for development"
        case .metrics: "metrics"
        case .pages: "pages"
        }
    }

    /// Serves until graceful shutdown or cancellation.
    ///
    /// - Throws: ``Failure``.
    package func run() async throws {
        let boundPort = BoundPort()
        do {
            let limits = HTTP1Channel.Configuration(
                additionalChannelHandlers: [
                    MalformedRequestHandler(), RefusedBodyHandler(), SlowBodyHandler(),
                ] + (interface.slowsRefusals ? [RefusalDelayHandler()] : []) + [PlainPathHandler()],
                idleTimeout: .seconds(60),
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 16_384, maxHeaderListSize: 32_768, maxHeaderFieldCount: 100))
            let server = HTTPServerBuilder { [interface, limiter] in
                let plain = DroppableChannel(HTTP1Channel(responder: $0, configuration: limits))
                switch interface {
                case .secured(let services, let tls) where services.controls != nil:
                    return UpgradableChannel($0, configuration: limits, tls: tls, limiter: limiter)
                case .secured(_, let tls): return AdmittedChannel(plain, tls: tls, limiter: limiter)
                case .metrics: return AdmittedChannel(plain, tls: nil, limiter: limiter)
                case .development, .pages: return plain
                }
            }
            let application = Application(
                router: ControlRouter.router(
                    interface, limiter: limiter, isLoopback: ["127.0.0.1", "::1"].contains(host),
                    port: { boundPort.value }), server: server,
                configuration: ApplicationConfiguration(
                    address: .hostname(host, port: port), serverName: nil,
                    availableConnectionsDelegate: MaximumAvailableConnections(4096)),
                onServerRunning: { [bound] channel in
                    let port = channel.localAddress?.port ?? 0
                    boundPort.value = port
                    bound(port)
                },
                logger: logger)
            try await Self.run(application, grace: grace)
        } catch {
            throw Failure(host: host, port: port, underlying: error)
        }
    }

    /// Runs until graceful shutdown, and then no longer than `grace`: a request whose body never ends would keep the
    /// listener running for as long as an idle connection is kept.
    private static func run(_ application: some ApplicationProtocol, grace: Duration) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            group.addTask {
                try? await gracefulShutdown()
                try? await Task.sleep(for: grace)
            }
            try await group.next()
            group.cancelAll()
            // Errors of requests that were cut off after the grace have no receiver.
            while await group.nextResult() != nil {}
        }
    }
}

/// The port of a listener, known once it is bound.
private final class BoundPort: Sendable {
    private let stored = Mutex<Int?>(nil)

    var value: Int? {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }
}
