import AgentDouble
import AgentProtocol
import AldabaTestSupport
import AppHost
import FirebaseCore
import Foundation
import Testing

@testable import FirebaseInstanceID
@testable import FirebaseMessaging

/// Tokens and ids by their older names, with an agent of the test's.
@MainActor @Suite(.timeLimit(.minutes(5)))
final class InstanceIDTests {
    private let agent: FakeAgent
    private let host: AppHost
    private let instance: InstanceID
    private let tokens = ["ab", "cd"].map { String(repeating: $0, count: 32) }

    init() throws {
        agent = try FakeAgent()
        host = AppHost(
            configuration: AppHostConfiguration(
                app: "com.example.todo", socketPath: agent.path, launchTimeout: .seconds(60)))
        var settings = FirebaseSettings()
        settings.isAutoInitEnabled = false
        let messaging = Messaging(host: host, settings: settings, ownSender: { "42" }, delegates: { (nil, nil) })
        instance = InstanceID(messaging: messaging)
        messaging.begin()
    }

    isolated deinit {
        host.stop()
        agent.stop()
    }

    /// Answers the next request for a token.
    private func give(_ token: String) async throws {
        let asked = try await agent.next { if case .registerForRemoteNotifications = $0 { true } else { false } }
        guard case .registerForRemoteNotifications(let request) = asked else { return }
        try agent.say(.registered(request: request, token: token))
    }

    /// Answers the next request to end it.
    private func end(_ answer: (Int64) -> ChannelEvent) async throws {
        let asked = try await agent.next { if case .unregisterForRemoteNotifications = $0 { true } else { false } }
        guard case .unregisterForRemoteNotifications(let request) = asked else { return }
        try agent.say(.channel(answer(request)))
    }

    @Test func `the token comes with an id of its own, and another one with another id`() async throws {
        try await agent.welcome()
        let told = Inbox<InstanceIDResult?>()
        let ids = Inbox<String?>()
        let refreshed = Inbox<String?>()
        let tokens = tokens
        let observer = NotificationCenter.default.addObserver(
            forName: .InstanceIDTokenRefresh, object: nil, queue: nil
        ) { notification in
            // Other tests' tokens are posted in this process too.
            if let token = notification.object as? String, tokens.contains(token) { refreshed.put(token) }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        #expect(instance.token() == nil)
        instance.instanceID { result, _ in told.put(result) }
        try await give(tokens[0])
        let first = try #require(await told.next() ?? nil)
        #expect(first.token == tokens[0] && instance.token() == tokens[0])
        #expect(first.instanceID.range(of: "^[c-f][A-Za-z0-9_-]{10}$", options: .regularExpression) != nil)
        instance.getID { id, _ in ids.put(id) }
        #expect(await ids.next() == first.instanceID)
        try agent.say(.registered(request: nil, token: tokens[1]))
        #expect(await refreshed.next { $0 == tokens[1] } == tokens[1])
        instance.getID { id, _ in ids.put(id) }
        #expect(await ids.next() != first.instanceID)
    }

    @Test(arguments: ["fcm", "FCM", "GCM"])
    func `a token of the own sender and the scope of messages is given`(scope: String) async throws {
        try await agent.welcome()
        let told = Inbox<String?>()
        instance.token(withAuthorizedEntity: "42", scope: scope) { token, _ in told.put(token) }
        try await give(tokens[0])
        #expect(await told.next() == tokens[0])
    }

    @Test(arguments: [("42", "*"), ("42", "calendar"), ("43", "fcm"), ("", "fcm")])
    func `there is no token of another sender or scope`(entity: String, scope: String) async throws {
        let told = Inbox<Int>()
        instance.token(withAuthorizedEntity: entity, scope: scope) { _, error in
            told.put((error as NSError?)?.code ?? 0)
        }
        #expect(await told.next() == Int(InstanceIDError.invalidRequest.rawValue))
        guard scope != "*" else { return }
        instance.deleteToken(withAuthorizedEntity: entity, scope: scope) { told.put(($0 as NSError?)?.code ?? 0) }
        #expect(await told.next() == Int(InstanceIDError.invalidRequest.rawValue))
    }

    @Test func `a deletion is done when the server has done it, or says why not`() async throws {
        try await agent.welcome()
        let told = Inbox<NSError?>()
        instance.deleteToken(withAuthorizedEntity: "42", scope: "*") { told.put($0 as NSError?) }
        try await end { .accepted(request: $0) }
        #expect(try #require(await told.next()) == nil)
        instance.deleteID { told.put($0 as NSError?) }
        try await end { .refused(request: $0, code: ChannelFault.offline, message: "away") }
        let error = try #require(await told.next() ?? nil)
        #expect(error.domain == "com.firebase.iid" && error.code == Int(InstanceIDError.network.rawValue))
    }
}
