import Foundation
import Logging
import MCSTransport
import PushModel

/// What an agent works with; tests pass their own.
struct AgentParts: Sendable {
    var presenter: any Presenter
    var connector: any PushConnector
    var enrolment: any EnrolmentClient
    var launcher: any AppLauncher
    var peerCheck: PeerCheck
    var now: @Sendable () -> Timestamp
    var sleep: @Sendable (Duration) async throws -> Void
    var random: @Sendable () -> UInt64
    /// Ends what the parts keep open.
    var close: @Sendable () async -> Void

    /// The real ones.
    ///
    /// - Throws: when the authorities' file cannot be read.
    static func production(
        _ configuration: AgentConfiguration, presenter: any Presenter, logger: Logger
    ) throws -> AgentParts {
        let enrolment = try HTTPEnrolmentClient(configuration: configuration)
        return AgentParts(
            presenter: presenter, connector: try MCSPushConnector(configuration: configuration, logger: logger),
            enrolment: enrolment, launcher: ProcessLauncher(logFolder: configuration.logFolder), peerCheck: .system,
            now: { Timestamp(rawValue: Int64(Date().timeIntervalSince1970 * 1000)) },
            sleep: { try await Task.sleep(for: $0) }, random: { UInt64.random(in: 0 ... .max) },
            close: { await enrolment.close() })
    }

    /// Waits as long as the back-off says, or until the task is cancelled.
    func pause(_ backOff: inout BackOff) async {
        var randomness = Randomness(random: random)
        try? await sleep(.milliseconds(backOff.next(using: &randomness)))
    }

    private struct Randomness: RandomNumberGenerator {
        let random: @Sendable () -> UInt64
        func next() -> UInt64 { random() }
    }
}

/// How long the agent waits and how much it keeps.
struct AgentTiming: Sendable {
    /// How long an app that was connected may be away before what waits for it is shown on the desktop.
    var returnLimit = Duration.seconds(5)
    /// How long responses wait for an app that cannot be started.
    var launchLimit = Duration.seconds(60)
    /// How many finished notifications are kept for each app, and for how long.
    var kept = 10_000
    var retention = Duration.seconds(30 * 86_400)
}
