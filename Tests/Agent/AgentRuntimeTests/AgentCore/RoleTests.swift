import AgentEngine
import AgentProtocol
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import NIOCore
import NIOEmbedded
import PushCore
import Testing

@testable import AgentRuntime

/// What connects in an app's name and is not the app.
@Suite(.timeLimit(.minutes(5)))
struct RoleTests {
    private static let companions = ConnectionRole.known.filter { $0 != .app }

    private func loggedIn(_ harness: AgentHarness) async throws -> FakeSession {
        let session = try #require(await harness.server.sessions.next())
        session.events(.loggedIn)
        return session
    }

    private func isWelcome(_ app: TestApp) async -> Bool {
        if case .welcome? = await app.inbox.next() { true } else { false }
    }

    private func refusal(_ app: TestApp) async -> (code: String, message: String)? {
        let last = await app.inbox.next { if case .refused = $0 { true } else { false } }
        guard case .refused(_, let code, let message)? = last, await app.inbox.next() == nil else {
            return nil
        }
        return (code, message)
    }

    @Test(arguments: companions)
    func `who comes in another role does not take the app's place, and its end is not the app's`(
        role: ConnectionRole
    ) async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        let app = try await harness.readyApp()
        let companion = try await harness.connectApp(role: role)
        #expect(await isWelcome(companion))
        session.events(.arrived([outgoing(1)]))
        #expect(try #require(await app.delivery()) == (1, .foreground))
        let peer = Peer(process: 1, user: getuid(), program: todoManifest.executable)
        let ending = AppConnection(peer: peer, channel: NIOAsyncTestingChannel())
        harness.agent.withLock { $0 }?.enter {
            $0.received([.hello(version: 1, app: todoManifest.id, secret: nil, role: role)], from: ending)
            $0.closed(ending)
        }
        session.events(.arrived([outgoing(2)]))
        #expect(try #require(await app.delivery()).id == 2)
        try await harness.stop()
    }

    @Test func `an app does not take the place of its companions, and is not there when they alone are`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        var companions: [TestApp] = []
        for role in Self.companions {
            let companion = try await harness.connectApp(run: "one", role: role)
            #expect(await isWelcome(companion))
            companions.append(companion)
        }
        let agent = try #require(harness.agent.withLock { $0 })
        #expect(await agent.apps[todoManifest.id]?.connection == nil)
        session.events(.arrived([outgoing(1)]))
        _ = await session.acknowledged.next()
        let app = try await harness.readyApp()
        #expect(try #require(await app.delivery()).id == 1)
        try await harness.stop()
        // They lived until the agent ended, and were handed nothing.
        for companion in companions { #expect(await companion.inbox.next() == nil) }
    }

    @Test func `a role has one connection: a second process takes it, and the first is told`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let older = try await harness.connectApp(role: .serviceExtension)
        #expect(await isWelcome(older))
        let newer = try await harness.connectApp(process: 1, role: .serviceExtension)
        let refused = try #require(await refusal(older))
        #expect(refused.code == AgentMessage.superseded)
        #expect(refused.message.contains("process 1 is the serviceExtension of com.example.todo now"))
        let welcome = try await newer.waitForOutboundWrite(as: [AgentMessage].self)
        if case .welcome? = welcome.first {} else { Issue.record("not welcome") }
        try await harness.stop()
    }

    @Test func `what an app does is not done for a companion`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        let companion = try await harness.connectApp(role: .serviceExtension)
        companion.send(.center(request: 1, .setBadge(3)))
        let refused = try #require(await refusal(companion))
        #expect(refused.code == "notThisRole")
        #expect(refused.message.contains("the serviceExtension of com.example.todo"))
        app.send(.getSettings(request: 2))
        _ = await app.inbox.next { if case .settings(2, _) = $0 { true } else { false } }
        let agent = try #require(harness.agent.withLock { $0 })
        #expect(await agent.apps[todoManifest.id]?.record.badge == 0)
        try await harness.stop()
    }

    @Test func `a role that no version has is refused with those that there are`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let refused = try #require(await refusal(try await harness.connectApp(role: .unknown("butler"))))
        #expect(refused.code == "unknownRole")
        #expect(
            refused.message
                == "this agent knows no role butler; its roles are app, serviceExtension, relayService, terminal")
        try await harness.stop()
    }

    @Test(arguments: companions)
    func `a companion proves that it is of the app as the app does`(role: ConnectionRole) async throws {
        let harness = try AgentHarness()
        try await harness.start(executable: "/usr/bin/other")
        #expect(await refusal(try await harness.connectApp(role: role))?.code == "notThisApp")
        try await harness.stop()
    }

    @Test func `an app's companions end when it is removed`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        var all: [TestApp] = []
        for role in ConnectionRole.known {
            let one = try await harness.connectApp(role: role)
            #expect(await isWelcome(one))
            all.append(one)
        }
        #expect(try AppFolder(path: harness.configuration.appsFolder).remove(todoManifest.id))
        harness.agent.withLock { $0 }?.enter { try? $0.loadApps() }
        for one in all { #expect(await refusal(one)?.code == "unknownApp") }
        try await harness.stop()
    }

    @Test func `an app's companions end when its manifest has another program`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let companion = try await harness.connectApp(role: .relayService)
        #expect(await isWelcome(companion))
        var manifest = todoManifest
        manifest.executable = "/opt/another"
        try AppFolder(path: harness.configuration.appsFolder).install(manifest)
        harness.agent.withLock { $0 }?.enter { try? $0.loadApps() }
        #expect(await refusal(companion)?.code == "manifestChanged")
        try await harness.stop()
    }
}
