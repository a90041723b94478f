import AgentEngine
import AgentProtocol
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import PushCore
import Testing

@testable import AgentRuntime

/// A day on which each thing happens to notifications that may: one after the other, so that none hides another's cost.
///
/// Its app declares where it stands, and may be woken; so may the other one, which does not run.
struct NotificationDay: WaitingRequests {
    static let other: BundleID = "com.example.other"
    private static let silent = #"{"aps":{"content-available":1}}"#

    let harness: AgentHarness
    let session: FakeSession
    let app: TestApp

    init(_ harness: AgentHarness) async throws {
        self.harness = harness
        session = try #require(await harness.server.sessions.next())
        session.events(.loggedIn)
        app = try await harness.readyApp()
        // What begins with the agent is over when both apps have their tokens.
        var registered: Set<BundleID> = []
        while registered.count < 2, case .registered(let app, _)? = await harness.happenings.next(where: \.isToken) {
            registered.insert(app)
        }
    }

    func pass() async throws {
        try await isPushedAndOpened()
        try await isListedAndDismissed()
        try await isAdded()
        try await waitsForItsTime()
        try await hasFiles()
        try await managesItsList()
        try await isPushedInTheBackground()
        try await isPushedWhileAway()
    }

    private func push(_ id: Int64, to app: BundleID = todoManifest.id, _ payload: String = #"{"aps":{"alert":"Milk"}}"#)
    {
        session.events(.arrived([outgoing(id, topic: app.rawValue, payload: payload)]))
    }

    /// Waits until the server is told this.
    private func isTold(_ id: Int64, _ state: NotificationState) async {
        let entry = (NotificationID(rawValue: id), state)
        while let report = await session.reports.next() {
            session.events(.reportConfirmed([report.batch]))
            if report.receipts.contains(where: { ($0.id, $0.entry.state) == entry }) { return }
        }
    }

    /// Shows all that is to be shown, until the next of its app is.
    private func show() async -> NotificationID? {
        while let shown = await harness.desktop.show() {
            if shown.app == todoManifest.id { return shown.notification }
        }
        return nil
    }

    private func handle(_ outcome: HandledOutcome) async throws {
        let (id, _) = try #require(await app.delivery())
        app.send(.handled(notification: id, outcome: outcome))
        _ = await app.inbox.next { if case .handledConfirmed = $0 { true } else { false } }
    }

    private func ask(_ command: NotificationCenterCommand, number: Int64) async -> CenterAnswer? {
        app.send(.center(request: number, command))
        let message = await app.inbox.next { if case .centerAnswered(number, _) = $0 { true } else { false } }
        guard case .centerAnswered(_, let answer)? = message else { return nil }
        return answer
    }

    private func isPushedAndOpened() async throws {
        push(1)
        try await handle(.presented(options: 26))
        let shown = try #require(await show())
        await isTold(1, .handed)
        session.events(.confirmed([shown]))
        harness.desktop.does(.opened(shown, activationToken: nil))
        let message = await app.inbox.next { if case .respond = $0 { true } else { false } }
        guard case .respond(let response, _, _, _)? = message else { return }
        app.send(.responseHandled(response: response))
        _ = await app.inbox.next { if case .responsesConfirmed = $0 { true } else { false } }
    }

    private func isListedAndDismissed() async throws {
        push(2)
        try await handle(.presented(options: 8))
        await isTold(2, .handed)
        harness.desktop.does(.dismissed(NotificationID(rawValue: 2)))
        await isTold(2, .dismissed)
    }

    /// Its own, twice under one name.
    private func isAdded() async throws {
        for number: Int64 in [1, 2] {
            var content = NotificationContent()
            content.title = "tea"
            #expect(await ask(.add(NotificationRequest(identifier: "tea", content: content)), number: number) == .done)
            try await handle(.presented(options: 26))
            _ = await show()
        }
    }

    private func waitsForItsTime() async throws {
        #expect(await add(request("later", Self.every(60)), app, number: 3) == .done)
        #expect(await add(request("later", Self.every(90)), app, number: 4) == .done)
        for _ in 1...2 {
            harness.clock.pass(90)
            try await handle(.presented(options: 8))
        }
    }

    private func hasFiles() async throws {
        let picture = harness.folder.path("picture.png")
        try Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)).write(
            to: URL(fileURLWithPath: picture))
        var content = NotificationContent()
        content.title = "with a picture"
        content.attachments = [NotificationAttachment(identifier: "picture", path: picture, type: "public.png")]
        #expect(await ask(.add(NotificationRequest(identifier: "seen", content: content)), number: 5) == .done)
        try await handle(.presented(options: 26))
        _ = await show()
    }

    private func managesItsList() async throws {
        #expect(await ask(.removeDelivered(["tea", "unknown"]), number: 6) == .done)
        #expect(await ask(.removePending(["later", "unknown"]), number: 7) == .done)
        #expect(await ask(.setBadge(3), number: 8) == .done)
        _ = await ask(.pending, number: 9)
    }

    private func isPushedInTheBackground() async throws {
        app.send(.stateChanged(.background), .getSettings(request: 10))
        _ = await app.inbox.next { if case .settings = $0 { true } else { false } }
        push(3)
        _ = await show()
        await isTold(3, .presented)
        push(4, Self.silent)
        try await handle(.background(.newData))
        await isTold(4, .handed)
    }

    /// An app that does not run is woken until its budget is spent.
    private func isPushedWhileAway() async throws {
        for number in 0...BackgroundBudget.capacity {
            push(100 + Int64(number), to: Self.other, Self.silent)
            guard number < BackgroundBudget.capacity else { break }
            _ = await harness.launcher.launched.next()
            harness.launcher.end()
        }
        await isTold(110, .suppressed(.budget))
        push(111, to: Self.other, Self.silent)
        await isTold(111, .suppressed(.budget))
    }
}

extension AgentEvent {
    fileprivate var isToken: Bool { if case .registered = self { true } else { false } }
}
