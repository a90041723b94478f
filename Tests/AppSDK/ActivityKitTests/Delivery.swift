import ActivityKit
import AgentDouble
import AgentProtocol
import AppHost
import Foundation
import Synchronization
import Testing

/// The attributes of the tests.
struct DeliveryAttributes: ActivityAttributes, Equatable {
    struct ContentState: Codable, Hashable {
        var driver: String
        var minutes: Int
    }

    var order: String
}

/// Lines that were written, in order.
final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock(\.self) }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
}

/// An app with an agent of the test's own.
final class ActivityApp: Sendable {
    let agent: FakeAgent
    let host: AppHost
    let center: ActivityCenter
    /// The lines for the person at the terminal.
    let reports = Lines()

    init(firstEventsLimit: DispatchTimeInterval = .seconds(0)) throws {
        agent = try FakeAgent()
        host = AppHost(
            configuration: AppHostConfiguration(
                app: "com.example.shop", socketPath: agent.path, launchTimeout: .seconds(60)))
        center = ActivityCenter(host: host, firstEventsLimit: firstEventsLimit) { [reports] in reports.add($0) }
    }

    deinit {
        host.stop()
        agent.stop()
    }

    /// Does something as the app does it.
    func run<Result>(
        _ body: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        try await ActivityCenter.$current.withValue(center, operation: body)
    }

    /// The next command about activities that is not to observe them.
    func command() async throws -> ActivityCommand {
        while true {
            let message = try await agent.next { if case .activity = $0 { true } else { false } }
            if case .activity(let command) = message, command != .observe { return command }
        }
    }

    /// The next command, which must be a start.
    func start() async throws -> (request: Int64, LiveActivity, LiveActivityPushes) {
        guard case .start(let request, let activity, let pushes) = try await command() else {
            throw POSIXError(.EINVAL)
        }
        return (request, activity, pushes)
    }

    /// Answers the next command that the app observes its activities.
    func tell(_ activities: [LiveActivity] = [], startToken: String? = nil) async throws {
        _ = try await agent.next { $0 == .activity(.observe) }
        try agent.say(.activity(.all(activities, startToken: startToken)))
    }

    /// An activity as the agent has it.
    static func activity(
        _ digit: Character, driver: String = "Ana", minutes: Int = 9, type: String = "DeliveryAttributes",
        state: LiveActivity.State = .active, pushToken: String? = nil
    ) -> LiveActivity {
        LiveActivity(
            id: String(repeating: digit, count: 32), attributesType: type, attributes: #"{"order":"7"}"#,
            content: LiveActivityContent(state: #"{"driver":"\#(driver)","minutes":\#(minutes)}"#), state: state,
            pushToken: pushToken)
    }
}

extension AsyncSequence where Failure == Never {
    /// The first value that is of interest.
    func first(_ isWanted: (Element) -> Bool = { _ in true }) async throws -> Element {
        for await value in self where isWanted(value) { return value }
        throw POSIXError(.ECONNRESET)
    }
}
