import AgentProtocol
import DeviceTestSupport
import Foundation
import NIOEmbedded
import PushCore
import Scheduling
import Testing

@testable import AgentEngine
@testable import AgentRuntime

/// What the suites of requests that wait have in common.
protocol WaitingRequests {}

extension WaitingRequests {
    static var start: Timestamp { noon }

    func request(_ identifier: String, _ trigger: NotificationTrigger) -> NotificationRequest {
        var content = NotificationContent()
        content.title = identifier
        return NotificationRequest(identifier: identifier, content: content, trigger: trigger)
    }

    /// What the agent answers to a request.
    func add(_ request: NotificationRequest, _ app: TestApp, number: Int64 = 1) async -> CenterAnswer? {
        app.send(.center(request: number, .add(request)))
        let message = await app.inbox.next { if case .centerAnswered(number, _) = $0 { true } else { false } }
        guard case .centerAnswered(_, let answer)? = message else { return nil }
        return answer
    }

    func pending(_ harness: AgentHarness) async throws -> [PendingRequest] {
        let agent = try #require(harness.agent.withLock { $0 })
        return try await agent.pendingForTests()
    }

    static func every(_ seconds: Double, repeats: Bool = true) -> NotificationTrigger {
        .timeInterval(seconds: seconds, repeats: repeats)
    }

    static func region(
        latitude: Double = 52.5, radius: Double = 100, onEntry: Bool = true
    ) -> NotificationTrigger {
        .region(
            .init(
                identifier: "home", latitude: latitude, longitude: 13.4, radius: radius, onEntry: onEntry,
                onExit: false), repeats: false)
    }
}

extension Agent {
    func pendingForTests() throws -> [PendingRequest] {
        flush()
        return try store.read { try $0.pending() }
    }

    func waitingForTests(_ app: BundleID?, after last: PendingOrder?) throws -> ManagementAnswer {
        flush()
        guard case .answer(let answer)? = try commandHandler.take(.pending(app: app, after: last)) else { return .done }
        return answer
    }

    func notifyForTests(_ request: NotificationRequest) throws -> ManagementAnswer? {
        let connection = AppConnectionID(number: 0, process: 1)
        if let fault = try fault(of: request, waits: false) { return .failed(message: fault) }
        return notify(request, Confirmation(connection: connection, request: 1), waits: false)
    }

    func faultForTests(of trigger: NotificationTrigger) throws -> String? {
        flush()
        return try engine.fault(of: trigger, of: "x", app: "com.example.todo", context)
    }
}
