import AgentDouble
import AgentProtocol
import AppHost
import Foundation
import Testing
import UIKit
import UserNotifications

/// One line of the table in `Docs/lifecycle.md`.
struct LifeCycleRow: Sendable, CustomTestStringConvertible {
    enum Event: Sendable {
        case alert, silent, alertAndSilent, localAlert
        case tap, localTap, button, settings
        case directed(AppState)
    }

    let state: AppState
    let event: Event
    let application: OptionalMethods.Application
    let center: OptionalMethods.Center
    let calls: [String]
    /// What the agent is told in the end; `nil` for nothing yet.
    let answer: AppMessage?

    init(
        _ state: AppState, _ event: Event, _ application: OptionalMethods.Application,
        _ center: OptionalMethods.Center, _ calls: [String], _ answer: AppMessage?
    ) {
        (self.state, self.event, self.application, self.center) = (state, event, application, center)
        (self.calls, self.answer) = (calls, answer)
    }

    var testDescription: String { "\(state), \(event), \(application), \(center)" }

    private static let shown = AppMessage.handled(notification: 1, outcome: .presented(options: 16))
    private static let notShown = AppMessage.handled(notification: 1, outcome: .notPresented)
    private static let localNotShown = AppMessage.handled(notification: -1, outcome: .notPresented)
    private static let newData = AppMessage.handled(notification: 1, outcome: .background(.newData))
    private static let noData = AppMessage.handled(notification: 1, outcome: .background(.noData))
    private static let responded = AppMessage.responseHandled(response: 7)

    static let table = [
        // A notification that shows text, while the app is in front.
        LifeCycleRow(.active, .alert, .remoteHandler, .full, ["present"], shown),
        LifeCycleRow(.active, .alert, .remoteHandler, .presents, ["present"], shown),
        LifeCycleRow(.active, .alert, .remoteHandler, .responds, ["remote 1"], notShown),
        LifeCycleRow(.active, .alert, .remoteHandler, .none, ["remote 1"], notShown),
        LifeCycleRow(.active, .alert, .plain, .empty, [], notShown),
        LifeCycleRow(.active, .alert, .plain, .none, [], notShown),
        LifeCycleRow(.inactive, .alert, .remoteHandler, .full, ["present"], shown),
        LifeCycleRow(.active, .localAlert, .remoteHandler, .none, [], localNotShown),
        // A silent one.
        LifeCycleRow(.active, .silent, .remoteHandler, .full, ["remote 1"], newData),
        LifeCycleRow(.background, .silent, .remoteHandler, .none, ["remote 1"], newData),
        LifeCycleRow(.background, .silent, .plain, .full, [], noData),
        // The old form, which is for what comes while the app is in front.
        LifeCycleRow(.active, .alert, .oldForm, .none, ["old 1"], notShown),
        LifeCycleRow(.inactive, .alert, .oldForm, .responds, ["old 1"], notShown),
        LifeCycleRow(.active, .silent, .oldForm, .full, ["old 1"], noData),
        LifeCycleRow(.background, .silent, .oldForm, .full, [], noData),
        LifeCycleRow(.active, .alertAndSilent, .oldForm, .presents, ["old 1", "present"], shown),
        LifeCycleRow(.active, .tap, .oldForm, .presents, [], responded),
        LifeCycleRow(.background, .tap, .oldForm, .empty, ["will enter foreground", "active"], responded),
        LifeCycleRow(.background, .tap, .oldForm, .none, ["will enter foreground", "active"], nil),
        // One that does both.
        LifeCycleRow(.active, .alertAndSilent, .remoteHandler, .full, ["remote 1", "present"], shown),
        LifeCycleRow(.active, .alertAndSilent, .remoteHandler, .none, ["remote 1"], notShown),
        LifeCycleRow(.active, .alertAndSilent, .plain, .presents, ["present"], shown),
        // Opened.
        LifeCycleRow(.active, .tap, .remoteHandler, .full, ["respond"], responded),
        LifeCycleRow(.inactive, .tap, .plain, .full, ["respond", "active"], responded),
        LifeCycleRow(
            .background, .tap, .remoteHandler, .full, ["will enter foreground", "respond", "active"], responded),
        LifeCycleRow(
            .background, .tap, .remoteHandler, .none, ["will enter foreground", "remote 1", "active"], responded),
        LifeCycleRow(.active, .tap, .remoteHandler, .presents, ["remote 1"], responded),
        LifeCycleRow(.active, .tap, .plain, .empty, [], responded),
        LifeCycleRow(.background, .tap, .plain, .none, ["will enter foreground", "active"], nil),
        LifeCycleRow(
            .background, .localTap, .remoteHandler, .full, ["will enter foreground", "respond", "active"], responded),
        LifeCycleRow(.background, .localTap, .remoteHandler, .none, ["will enter foreground", "active"], nil),
        // A button, which leaves the app where it is.
        LifeCycleRow(.background, .button, .remoteHandler, .full, ["respond"], responded),
        LifeCycleRow(.background, .button, .remoteHandler, .none, [], nil),
        LifeCycleRow(.background, .button, .remoteHandler, .empty, [], responded),
        // The app's own settings.
        LifeCycleRow(.background, .settings, .plain, .full, ["will enter foreground", "settings", "active"], nil),
        LifeCycleRow(.active, .settings, .plain, .none, [], nil),
        // The state itself.
        LifeCycleRow(
            .active, .directed(.background), .plain, .none, ["will resign active", "background"],
            .stateChanged(.background)),
        LifeCycleRow(.active, .directed(.inactive), .plain, .none, ["will resign active"], .stateChanged(.inactive)),
        LifeCycleRow(
            .background, .directed(.active), .plain, .none, ["will enter foreground", "active"], .stateChanged(.active)),
        LifeCycleRow(
            .background, .directed(.inactive), .plain, .none, ["will enter foreground"], .stateChanged(.inactive)),
        LifeCycleRow(.inactive, .directed(.background), .plain, .none, ["background"], .stateChanged(.background)),
        LifeCycleRow(.active, .directed(.active), .plain, .none, [], .stateChanged(.active)),
    ]
}

@MainActor
struct LifeCycleTests {
    private func messages(_ event: LifeCycleRow.Event) -> AgentMessage {
        let remote = FakeAgent.notification(1)
        let local = FakeAgent.notification(-1)
        let open = UNNotificationDefaultActionIdentifier
        return switch event {
        case .alert: .deliver(remote, kind: .foreground)
        case .localAlert: .deliver(local, kind: .foreground)
        case .silent: .deliver(remote, kind: .background)
        case .alertAndSilent: .deliver(remote, kind: .foregroundAndBackground)
        case .tap: .respond(response: 7, notification: remote, action: open, userText: nil)
        case .localTap: .respond(response: 7, notification: local, action: open, userText: nil)
        case .button: .respond(response: 7, notification: remote, action: "later", userText: nil)
        case .settings: .openSettings(nil)
        case .directed(let state): .enter(state)
        }
    }

    @Test(arguments: LifeCycleRow.table)
    func `what is called follows from state, notification and the methods that the app writes`(
        row: LifeCycleRow
    ) async throws {
        let agent = try FakeAgent()
        let host = AppHost(
            configuration: AppHostConfiguration(
                app: "com.example.todo", socketPath: agent.path, launchTimeout: .seconds(60)))
        defer {
            host.stop()
            agent.stop()
        }
        let center = UNUserNotificationCenter(host: host)
        let application = UIApplication(host: host, center: center)
        let app = OptionalMethods(application: row.application, center: row.center)
        application.begin(with: app.application)
        center.delegate = app.center
        try await agent.welcome(state: row.state)
        _ = try await agent.next { $0 == .ready }
        let before = app.diary.lines.count
        try agent.say(messages(row.event))
        if let answer = row.answer { _ = try await agent.next { $0 == answer } }
        // What comes after it shows that nothing else was called for the first.
        try agent.say(.deliver(FakeAgent.notification(99), kind: .background))
        _ = try await agent.next { if case .handled(99, _) = $0 { true } else { false } }
        #expect(app.diary.lines.dropFirst(before).filter { !$0.hasSuffix(" 99") } == row.calls)
    }
}
