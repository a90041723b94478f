import AgentProtocol
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import PushCore
import Testing

@testable import AgentEngine
@testable import AgentRuntime

/// The question whether an app may send notifications.
@Suite(.timeLimit(.minutes(5))) struct AuthorizationTests {
    private func granted(_ app: TestApp) async -> Bool? {
        let message = await app.inbox.next { if case .authorizationAnswered = $0 { true } else { false } }
        guard case .authorizationAnswered(_, let granted, _)? = message else { return nil }
        return granted
    }

    private func status(_ app: TestApp) async -> Int? {
        app.send(.getSettings(request: 50))
        let message = await app.inbox.next { if case .settings = $0 { true } else { false } }
        guard case .settings(50, let settings)? = message else { return nil }
        return settings.authorizationStatus
    }

    @Test(arguments: [("allow", true, 2), ("deny", false, 1)])
    func `a person is asked once, and the answer outlives the agent`(
        button: String, answer: Bool, status: Int
    ) async throws {
        let harness = try AgentHarness(authorization: .ask)
        try await harness.start()
        let app = try await harness.readyApp()
        #expect(await self.status(app) == 0)
        app.send(.requestAuthorization(request: 1, options: 7), .requestAuthorization(request: 2, options: 7))
        let prompt = try #require(await harness.desktop.show())
        #expect(prompt.buttons.map(\.label) == ["Allow", "Deliver Quietly", "Don’t Allow"])
        #expect(prompt.title.contains("Todo") && prompt.stays)
        harness.desktop.does(.pressed(prompt.notification, button: button, activationToken: nil))
        #expect(await granted(app) == answer)
        #expect(await granted(app) == answer)
        #expect(await self.status(app) == status)
        try await harness.stop()
        try await harness.start()
        let again = try await harness.readyApp()
        again.send(.requestAuthorization(request: 3, options: 7))
        #expect(await granted(again) == answer)
        try await harness.stop()
    }

    @Test func `an app is told why nobody was asked`() async throws {
        let harness = try AgentHarness(authorization: .ask)
        try await harness.start()
        let app = try await harness.readyApp()
        app.send(.requestAuthorization(request: 1, options: 7))
        let question = try #require(await harness.desktop.presented.next())
        question.complete(.failed(reason: "no server of notifications answers"))
        let answer = await app.inbox.next { if case .authorizationAnswered = $0 { true } else { false } }
        guard case .authorizationAnswered(1, false, reason: let reason?)? = answer else {
            Issue.record("another answer: \(String(describing: answer))")
            return
        }
        #expect(reason.contains("no server of notifications answers"))
        #expect(reason.contains("aldaba settings com.example.todo allowed=yes"))
        try await harness.stop()
    }

    @Test func `what is allowed quietly goes into the list only, until the person changes that`() async throws {
        let harness = try AgentHarness(authorization: .ask)
        try await harness.start()
        let app = try await harness.readyApp()
        app.send(.requestAuthorization(request: 1, options: 7))
        let prompt = try #require(await harness.desktop.show())
        harness.desktop.does(.pressed(prompt.notification, button: "quiet", activationToken: nil))
        #expect(await granted(app) == true)
        #expect(await status(app) == 2)
        let terminal = try await TestApp(socket: harness.configuration.socketPath, id: "")
        terminal.send(.manage(request: 1, .settings(app: "com.example.todo")))
        guard case .managed(_, .settings(let settings))? = await terminal.inbox.next() else {
            Issue.record("no settings")
            return
        }
        let values = Dictionary(uniqueKeysWithValues: settings.map { ($0.name, $0.value) })
        #expect((values["allowed"], values["alerts"], values["sounds"]) == ("yes", "off", "off"))
        #expect((values["badges"], values["list"]) == ("off", "on"))
        try await harness.stop()
    }

    @Test func `no answer is none: the app may ask again`() async throws {
        let harness = try AgentHarness(authorization: .ask)
        try await harness.start()
        let app = try await harness.readyApp()
        app.send(.requestAuthorization(request: 1, options: 7))
        let first = try #require(await harness.desktop.show())
        harness.desktop.does(.dismissed(first.notification))
        #expect(await granted(app) == false)
        #expect(await status(app) == 0)
        app.send(.requestAuthorization(request: 2, options: 7))
        let second = try #require(await harness.desktop.show())
        #expect(second.notification != first.notification)
        try await harness.stop()
    }

    @Test func `a question that outlived the agent leaves the screen`() async throws {
        let harness = try AgentHarness(authorization: .ask)
        try await harness.start()
        let app = try await harness.readyApp()
        app.send(.requestAuthorization(request: 1, options: 7))
        let question = try #require(await harness.desktop.presented.next())
        question.complete(.presented(handle: "the question", note: nil))
        #expect(await self.status(app) == 0)
        // As after a SIGKILL: the end of a run takes its questions away.
        try #require(harness.agent.withLock { $0 }).enter {
            $0.flush()
            $0.questions = AuthorizationQuestions()
        }
        #expect(await self.status(app) == 0)
        try await harness.stop()

        var timing = AgentTiming()
        timing.returnLimit = .milliseconds(1)
        try await harness.start(timing: timing)
        let inherited = harness.desktop.inherited.withLock { $0 }
        #expect(inherited.map(\.handle) == ["the question"])
        #expect(inherited.first?.presentation.identifier == question.presentation.identifier)
        #expect(await harness.desktop.withdrawn.next() == inherited.first?.presentation.notification)
        try await harness.stop()
        try await harness.start()
        #expect(harness.desktop.inherited.withLock { $0 }.isEmpty)
        try await harness.stop()
    }

    @Test func `a desktop that cannot ask is no answer either`() async throws {
        let harness = try AgentHarness(authorization: .ask)
        try await harness.start()
        let app = try await harness.readyApp()
        app.send(.requestAuthorization(request: 1, options: 7))
        try #require(await harness.desktop.presented.next()).complete(.failed(reason: "no server"))
        #expect(await granted(app) == false)
        #expect(await status(app) == 0)
        try await harness.stop()
    }

    @Test func `what is granted provisionally goes to the list without a question`() async throws {
        let harness = try AgentHarness(authorization: .ask)
        try await harness.start()
        let app = try await harness.readyApp()
        app.send(.requestAuthorization(request: 1, options: 64 | 7))
        #expect(await granted(app) == true)
        #expect(await status(app) == 3)
        try await harness.stop()
    }

    @Test func `a manifest that changes counts at once, also for an app that is connected`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        #expect(await status(app) == 2)
        var manifest = todoManifest
        manifest.authorization = .denied
        let folder = AppFolder(path: harness.configuration.appsFolder)
        try folder.install(manifest)
        try #require(harness.agent.withLock { $0 }).enter { try? $0.loadApps() }
        #expect(await status(app) == 1)
        manifest.executable = "/opt/another"
        try folder.install(manifest)
        try #require(harness.agent.withLock { $0 }).enter { try? $0.loadApps() }
        let refused = await app.inbox.next { if case .refused = $0 { true } else { false } }
        guard case .refused(_, "manifestChanged", _)? = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        try await harness.stop()
    }

    @Test(arguments: [(AppManifest.Authorization.granted, true), (.denied, false)])
    func `a policy asks nobody`(policy: AppManifest.Authorization, answer: Bool) async throws {
        let harness = try AgentHarness(authorization: policy)
        try await harness.start()
        let app = try await harness.readyApp()
        app.send(.requestAuthorization(request: 1, options: 7))
        #expect(await granted(app) == answer)
        try await harness.stop()
    }
}
