import AgentDouble
import AgentProtocol
import AppHost
import CallKit
import Foundation
import PushKit
import Testing

/// A caller's app: it writes down what its two delegates are told.
@MainActor
private final class CallingApp: NSObject, PKPushRegistryDelegate, CXProviderDelegate {
    private let lines = AsyncStream<String>.makeStream()

    func next() async -> String? {
        for await line in lines.stream { return line }
        return nil
    }

    func note(_ line: String) { lines.continuation.yield(line) }

    func pushRegistry(
        _ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType
    ) {
        lines.continuation.yield("token \(pushCredentials.token.count) \(registry.pushToken(for: type) != nil)")
    }

    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping () -> Void
    ) {
        lines.continuation.yield("call from \(payload.dictionaryPayload["caller"] ?? "nobody")")
        completion()
    }

    func providerDidReset(_ provider: CXProvider) {}

    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
        lines.continuation.yield("answered \(action.callUUID)")
        action.fulfill()
    }

    func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
        lines.continuation.yield("ended \(action.callUUID)")
        action.fulfill()
    }
}

@MainActor
final class CallTests {
    private let agent: FakeAgent
    private let host: AppHost
    private let app = CallingApp()
    private let call = UUID()

    init() throws {
        agent = try FakeAgent()
        host = AppHost(
            configuration: AppHostConfiguration(
                app: "com.example.todo", socketPath: agent.path, launchTimeout: .seconds(60)))
    }

    isolated deinit {
        host.stop()
        agent.stop()
    }

    private func provider() -> CXProvider {
        let provider = CXProvider(configuration: CXProviderConfiguration(), host: host)
        provider.setDelegate(app, queue: nil)
        return provider
    }

    /// The next command to the notification centre.
    private func command() async throws -> (request: Int64, NotificationCenterCommand) {
        while true {
            let message = try await agent.next { if case .center = $0 { true } else { false } }
            if case .center(let request, let command) = message { return (request, command) }
        }
    }

    /// The notification of the call, as the agent gives it back.
    private func shown(_ content: NotificationContent) -> DeliveredNotification {
        DeliveredNotification(
            id: -1, identifier: "aldaba.call.\(call.uuidString)", apnsID: nil, topic: "com.example.todo", date: 0,
            payload: "{}", content: content)
    }

    @Test func `PushKit's delegate gets the token and the call`() async throws {
        let registry = PKPushRegistry(host: host)
        registry.delegate = app
        registry.desiredPushTypes = [.voIP]
        try await agent.welcome()
        let asked = try await agent.next { if case .registerForRemoteNotifications = $0 { true } else { false } }
        guard case .registerForRemoteNotifications(let request) = asked else { return }
        try agent.say(.registered(request: request, token: String(repeating: "ab", count: 32)))
        #expect(await app.next() == "token 32 true")
        #expect(registry.pushToken(for: .complication) == nil)
        try agent.say(.deliver(FakeAgent.notification(1, payload: #"{"caller":"Ana"}"#), kind: .call))
        #expect(await app.next() == "call from Ana")
        #expect(try await agent.outcomes(of: 1) == [1: .background(.newData)])
    }

    @Test func `a call waits for the registry`() async throws {
        let provider = provider()
        try await agent.welcome(state: .background)
        _ = try await agent.next { $0 == .ready }
        try agent.say(.deliver(FakeAgent.notification(1, payload: #"{"caller":"Ana"}"#), kind: .call))
        let registry = PKPushRegistry(host: host)
        registry.delegate = app
        registry.desiredPushTypes = [.voIP]
        #expect(await app.next() == "call from Ana")
        withExtendedLifetime((provider, registry)) {}
    }

    @Test(arguments: [("aldaba.call.answer", "answered"), ("aldaba.call.decline", "ended")])
    func `an incoming call is a notification with two buttons, whose answers reach the provider's delegate`(
        button: String, says: String
    ) async throws {
        let provider = provider()
        try await agent.welcome()
        let update = CXCallUpdate()
        update.remoteHandle = CXHandle(type: .phoneNumber, value: "600 100 200")
        update.hasVideo = true
        async let report: Void = provider.reportNewIncomingCall(with: call, update: update)
        let (request, command) = try await command()
        guard case .add(let added) = command else { throw POSIXError(.EINVAL) }
        #expect(added.content.title == "600 100 200" && added.content.body == "Incoming video call")
        #expect(added.content.isIncomingCall && added.content.actions.map(\.title) == ["Answer", "Decline"])
        try agent.say(.centerAnswered(request: request, .done))
        try await report
        try agent.say(.deliver(shown(added.content), kind: .foreground))
        #expect(
            try await agent.outcomes(of: 1) == [-1: .presented(options: 26)], "it is shown while the app is in front")
        try agent.say(.respond(response: 3, notification: shown(added.content), action: button, userText: nil))
        #expect(await app.next() == "\(says) \(call)")
        #expect(try await self.command().1 == .removeDelivered([added.identifier]))
        _ = try await agent.next { $0 == .responseHandled(response: 3) }
    }

    @Test func `a call that may not be shown is reported to the app`() async throws {
        let provider = provider()
        try await agent.welcome()
        async let report: Void = provider.reportNewIncomingCall(with: call, update: CXCallUpdate())
        try agent.say(.centerAnswered(request: try await command().request, .failed(code: 1, message: "not allowed")))
        do {
            try await report
            Issue.record("the call was shown")
        } catch let error as CXErrorCodeIncomingCallError {
            #expect(error.code == .unknown && error.localizedDescription == "not allowed")
        }
    }

    @Test func `the app ends a call by the controller`() async throws {
        let provider = provider()
        try await agent.welcome()
        let controller = CXCallController(host: host)
        controller.requestTransaction(with: CXEndCallAction(call: call)) { [app] in app.note("error \($0 != nil)") }
        #expect(await app.next() == "ended \(call)")
        #expect(await app.next() == "error false")
        controller.requestTransaction(with: CXAction()) { [app] error in
            app.note("code \((error as? CXErrorCodeRequestTransactionError)?.errorCode ?? 0)")
        }
        #expect(await app.next() == "code 6")
        withExtendedLifetime(provider) {}
    }
}
