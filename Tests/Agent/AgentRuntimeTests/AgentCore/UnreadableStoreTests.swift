import AgentProtocol
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import GRDB
import PushCore
import Testing

@testable import AgentEngine
@testable import AgentRuntime

/// The agent while its store cannot be read: what it does not know it does not take for nothing.
@Suite(.timeLimit(.minutes(5))) struct UnreadableStoreTests {
    private static let other: BundleID = "com.example.other"
    private static var timing: AgentTiming {
        var timing = AgentTiming()
        timing.storePause = .milliseconds(10)
        // The app's manifest comes back while its tables are hidden, however long that takes.
        timing.removalTimeout = .seconds(600)
        return timing
    }

    /// Nobody can read a table until it is shown again.
    private func hide(_ table: String, of harness: AgentHarness) throws {
        try change(harness) { try $0.execute(sql: "ALTER TABLE \(table) RENAME TO hidden") }
    }

    private func show(_ table: String, of harness: AgentHarness) throws {
        try change(harness) { try $0.execute(sql: "ALTER TABLE hidden RENAME TO \(table)") }
    }

    private func change(_ harness: AgentHarness, _ body: (Database) throws -> Void) throws {
        var waits = Configuration()
        waits.busyMode = .timeout(10)
        try DatabaseQueue(path: harness.configuration.databasePath, configuration: waits).write(body)
    }

    private func welcome(_ app: TestApp) async -> String? {
        switch await app.inbox.next() {
        case .welcome: "welcome"
        case .refused(_, let code, _): code
        default: nil
        }
    }

    /// An app that was on this device before, and that comes back while something of it cannot be read.
    private func returningApp(_ table: String) async throws -> (AgentHarness, TestApp) {
        let harness = try AgentHarness()
        try await harness.start(timing: Self.timing)
        try await harness.stop()
        do {
            let store = try AgentStore.open(path: harness.configuration.databasePath, now: noon).store
            var record = AppNotificationRecord()
            record.settings.sounds = false
            _ = try store.commit([.standing(app: Self.other, record)])
            try store.save(nil, app: Self.other, team: TeamID(rawValue: "TEAM000001"), environment: .sandbox)
        }
        try await harness.start(timing: Self.timing)
        try hide(table, of: harness)
        var manifest = todoManifest
        manifest.id = Self.other
        try AppFolder(path: harness.configuration.appsFolder).install(manifest)
        #expect(await welcome(try await harness.connectApp(Self.other)) == "storeFailed")
        try show(table, of: harness)
        let app = try await harness.connectApp(Self.other)
        #expect(await welcome(app) == "welcome")
        return (harness, app)
    }

    @Test func `what a person settled is not overwritten since it could not be read`() async throws {
        let (harness, app) = try await returningApp("standing")
        app.send(.center(request: 1, .setCategories([])), .center(request: 2, .setBadge(7)))
        _ = await app.inbox.next { if case .centerAnswered(2, .done) = $0 { true } else { false } }
        let store = try #require(await harness.agent.withLock { $0 }?.store)
        let record = try store.read { try $0.standing(app: Self.other) }
        #expect(record.badge == 7 && !record.settings.sounds)
        try await harness.stop()
    }

    @Test(arguments: [#"{"authorization":9}"#, "[]", "settled", ""])
    func `what a person settled is not overwritten since it could not be decoded`(text: String) async throws {
        let harness = try AgentHarness()
        try await harness.start(timing: Self.timing)
        try await harness.stop()
        let store = try AgentStore.open(path: harness.configuration.databasePath, now: noon).store
        var record = AppNotificationRecord()
        record.settings.sounds = false
        _ = try store.commit([.standing(app: Self.other, record)])
        #expect(try store.read { try $0.standing(app: Self.other) } == record)
        try change(harness) {
            try $0.execute(sql: "UPDATE standing SET standing = ? WHERE app = ?", arguments: [text, Self.other])
        }
        #expect(throws: JSONText.Fault.self) { try store.read { try $0.standing(app: Self.other) } }
        #expect(try store.read { try $0.standing(app: "com.example.third") } == AppNotificationRecord())
    }

    @Test func `an app whose record could not be decoded is refused, and the record stays`() async throws {
        let text = #"{"authorization":9}"#
        let harness = try AgentHarness()
        try await harness.start(timing: Self.timing)
        try change(harness) {
            try $0.execute(sql: "INSERT INTO standing (app, standing) VALUES (?, ?)", arguments: [Self.other, text])
        }
        var manifest = todoManifest
        manifest.id = Self.other
        try AppFolder(path: harness.configuration.appsFolder).install(manifest)
        #expect(await welcome(try await harness.connectApp(Self.other)) == "storeFailed")
        let store = try #require(await harness.agent.withLock { $0 }?.store)
        let stored = try store.read {
            try String.fetchOne(
                $0.database, sql: "SELECT standing FROM standing WHERE app = ?", arguments: [Self.other])
        }
        #expect(stored == text)
        try await harness.stop()
    }

    @Test(arguments: [
        "INSERT INTO pending (app, identifier, request, added_at) VALUES ('a', 'milk', ?, 0)",
        """
        INSERT INTO notification (
            id, app, apns_id, identifier, environment, priority, payload, accepted_at, received_at, presentation, content)
        VALUES (-1, 'a', '', '', '', 10, x'7B7D', 0, 0, 0, ?)
        """,
    ])
    func `a file is not taken for nobody's since what names it could not be decoded`(insertion: String) async throws {
        let harness = try AgentHarness()
        try await harness.start(timing: Self.timing)
        try await harness.stop()
        let store = try AgentStore.open(path: harness.configuration.databasePath, now: noon).store
        #expect(try store.read { try $0.attachmentPaths() }.isEmpty)
        try change(harness) {
            try $0.execute(sql: insertion, arguments: [#"{"attachments":[{"path":7}],"title":7}"#])
        }
        #expect(throws: JSONText.Fault.self) { try store.read { try $0.attachmentPaths() } }
    }

    @Test func `a request that cannot be decoded does not come, which is told, and stays`() async throws {
        let harness = try AgentHarness()
        try await harness.start(timing: Self.timing)
        try await harness.stop()
        #expect(!harness.logged.withLock { $0 }.contains { $0.contains("cannot be decoded") })
        let insertion = "INSERT INTO pending (app, identifier, request, added_at) VALUES ('a', 'milk', '{', 0)"
        try change(harness) { try $0.execute(sql: insertion) }
        try await harness.start(timing: Self.timing)
        try await harness.stop()
        let told = harness.logged.withLock { $0 }.filter { $0.contains("Requests that wait cannot be decoded") }
        #expect(told.count == 1)
        let store = try AgentStore.open(path: harness.configuration.databasePath, now: noon).store
        #expect(try store.read { try $0.pendingKeys() }.count == 1)
    }

    @Test func `an app that ended its registration is not registered since that could not be read`() async throws {
        let (harness, _) = try await returningApp("registration")
        let agent = try #require(harness.agent.withLock { $0 })
        #expect(await agent.link?.registrations.requestedChange(of: Self.other) == nil)
        let store = await agent.store
        #expect(try store.read { try $0.registration(app: Self.other, environment: .sandbox) } == .ended)
        try await harness.stop()
    }

    @Test func `what an app added is not added again since that could not be read`() async throws {
        let harness = try AgentHarness()
        try await harness.start(timing: Self.timing)
        var content = NotificationContent()
        content.title = "Milk"
        let add = AppMessage.center(request: 1, .add(NotificationRequest(identifier: "milk", content: content)))
        let app = try await harness.readyApp(run: "one")
        app.send(add)
        _ = await app.inbox.next { if case .centerAnswered(1, .done) = $0 { true } else { false } }
        try await app.close()
        try hide("done", of: harness)
        #expect(await welcome(try await harness.connectApp(run: "one")) == "storeFailed")
        try show("done", of: harness)
        let again = try await harness.readyApp(run: "one")
        again.send(add)
        _ = await again.inbox.next { if case .centerAnswered(1, .done) = $0 { true } else { false } }
        try await harness.stop()
        let store = try AgentStore.open(path: harness.configuration.databasePath, now: noon).store
        #expect(try store.read { try Int.fetchOne($0.database, sql: "SELECT count(*) FROM notification") } == 1)
    }

    @Test(arguments: ["standing", "registration"])
    func `an agent that cannot read what it has of its apps does not begin`(table: String) async throws {
        let harness = try AgentHarness()
        try await harness.start()
        try await harness.stop()
        try hide(table, of: harness)
        try await harness.begin()
        await #expect(throws: DatabaseError.self) { try await harness.stop() }
    }

    @Test func `a tap is looked up until its notification can be read`() async throws {
        let harness = try AgentHarness()
        try await harness.start(timing: Self.timing)
        let session = try #require(await harness.server.sessions.next())
        session.events(.loggedIn)
        let app = try await harness.readyApp()
        session.events(.arrived([outgoing(1)]))
        _ = await app.delivery()
        app.send(.handled(notification: 1, outcome: .presented(options: 16)))
        _ = await harness.desktop.show()
        #expect(await session.receipts(2) == ["1 presented", "1 handed"])
        try hide("notification", of: harness)
        harness.desktop.does(.opened(NotificationID(rawValue: 1), activationToken: nil))
        // The failure closes all connections.
        #expect(await app.inbox.next { _ in false } == nil)
        try show("notification", of: harness)
        let again = try await harness.readyApp()
        #expect(await again.inbox.next { if case .respond = $0 { true } else { false } } != nil)
        try await harness.stop()
    }
}
