import AgentEngine
import AgentProtocol
import AldabaTestSupport
import PushCore
import Testing

@testable import AgentRuntime

/// A person at a terminal wants to see an app's own settings.
@Suite(.timeLimit(.minutes(5))) struct OwnSettingsTests {
    private static let provides: UInt = 32
    private let todo: BundleID = "com.example.todo"

    private func open(_ app: BundleID, _ harness: AgentHarness) async throws -> ManagementAnswer? {
        let terminal = try await TestApp(socket: harness.configuration.socketPath, id: "")
        terminal.send(.manage(request: 1, .openSettings(app: app)))
        guard case .managed(1, let answer)? = await terminal.inbox.next() else { return nil }
        return answer
    }

    private func asked(_ app: TestApp, options: UInt) async {
        app.send(.requestAuthorization(request: 1, options: options))
        _ = await app.inbox.next { if case .authorizationAnswered = $0 { true } else { false } }
    }

    private func hears(_ app: TestApp) async -> Bool {
        await app.inbox.next { if case .openSettings = $0 { true } else { false } } == .openSettings(nil)
    }

    @Test func `an app that said so opens its settings`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        await asked(app, options: 7 | Self.provides)
        #expect(try await open(todo, harness) == .done)
        #expect(await hears(app))
        try await harness.stop()
    }

    @Test func `an app that does not run is started for it, with what it said before`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        await asked(try await harness.readyApp(), options: 7 | Self.provides)
        try await harness.stop()
        var timing = AgentTiming()
        timing.returnLimit = .zero
        try await harness.start(timing: timing)
        #expect(try await open(todo, harness) == .done)
        #expect(await harness.launcher.launched.next()?.app == todo)
        let app = try await harness.readyApp()
        #expect(await hears(app))
        try await harness.stop()
    }

    @Test func `an app that said nothing of the kind, or not any more, is not bothered`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        for options in [7, 7 | Self.provides, 7] { await asked(app, options: options) }
        guard case .failed(let message)? = try await open(todo, harness) else {
            Issue.record("it was asked")
            return
        }
        #expect(message.contains("aldaba settings com.example.todo"))
        guard case .failed? = try await open("com.example.nobody", harness) else {
            Issue.record("nobody was asked")
            return
        }
        try await harness.stop()
    }
}
