import AgentProtocol
import AldabaConfiguration
import ControlAPI
import Logging
import Metrics
import NIOPosix
import Networking
import PushCore

/// The agent's metrics: what happens is counted, and how it is, is asked with every scrape.
package struct AgentMonitor: Sendable {
    private let registry: PrometheusRegistry
    private let port: Int
    private let sessions: Counter
    private let losses: Counter

    /// Begins to count; call it before anything else is measured. At most `appLimit` extensions and apps are reported.
    ///
    /// - Parameters:
    ///   - socket: The agent's own socket, at which its status is requested.
    ///   - port: The port at which ``run(logger:)`` listens, on loopback.
    package init(socket: String, port: Int, appLimit: Int = 64) {
        registry = .ofProgram()
        self.port = port
        MetricsSystem.bootstrap(registry)
        sessions = Counter(label: "aldaba_agent_sessions_total")
        losses = Counter(label: "aldaba_agent_session_losses_total")
        registry.collect {
            let answer = try? await NIOThreadPool.singleton.runIfActive {
                try AgentClient.connect(to: socket).ask(.status)
            }
            guard case .status(let status)? = answer else { return [] }
            return Self.samples(status, appLimit: appLimit)
        }
    }

    /// A session with the server was opened.
    package func sessionOpened() { sessions.increment() }

    /// A session was lost, or could not be opened.
    package func sessionClosed() { losses.increment() }

    /// The highest number of connections to `/metrics`.
    private static let connections = 16

    /// Serves `/metrics` until it is cancelled.
    package func run(logger: Logger) async throws {
        let status = ServerStatus(failure: { nil }, version: AldabaVersion.number)
        let listener = ControlListener(
            .metrics(registry, status), port: port, admission: .withoutCredentials(total: Self.connections),
            logger: logger
        ) { port in
            logger.info("metrics are served", metadata: [LogKey.address: "127.0.0.1:\(port)"])
        }
        do { try await listener.run() } catch let failure as ControlListener.Failure {
            throw CommandError(
                .failed,
                "cannot listen on \(ServerAddresses.authority(failure.host, failure.port)): \(failure.underlying)")
        }
    }

    static func samples(_ status: AgentStatus, appLimit: Int) -> [MetricSample] {
        func gauge(_ name: String, value: Int, labels: [(String, String)] = []) -> MetricSample {
            MetricSample(.gauge, name, labels, value: Double(value))
        }
        var samples = [
            gauge("aldaba_agent_connected", value: status.isConnected ? 1 : 0),
            gauge("aldaba_agent_has_screen", value: status.hasScreen ? 1 : 0),
            gauge("aldaba_agent_apps", value: status.apps.count),
            gauge("aldaba_agent_apps_connected", value: status.apps.count(where: \.isConnected)),
        ]
        for app in status.apps.prefix(appLimit) {
            let name = [("app", app.id.rawValue)]
            samples += [
                gauge("aldaba_agent_listed", value: app.listed, labels: name),
                gauge("aldaba_agent_badge", value: app.badge, labels: name),
            ]
            for version in app.extensions ?? [] {
                samples += version.outcomes.sorted { $0.key < $1.key }.map { outcome, count in
                    MetricSample(
                        .counter, "aldaba_agent_extensions_total",
                        name + [("version", version.version), ("outcome", outcome)], value: Double(count))
                }
            }
        }
        return samples
    }
}
