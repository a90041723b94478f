import AgentProtocol
import DeviceTestSupport
import PushCore
import Testing

@testable import AgentRuntime

/// What the server tells in the place of notifications.
@Suite(.timeLimit(.minutes(5)))
struct NoticeTests {
    private func loggedIn(_ harness: AgentHarness) async throws -> FakeSession {
        let session = try #require(await harness.server.sessions.next())
        session.events(.loggedIn)
        return session
    }

    private func id(_ raw: Int64) -> NotificationID { NotificationID(rawValue: raw) }

    private func deleted(_ id: Int64, _ count: Int, topic: String? = nil) -> OutgoingNotification {
        let model = outgoing(id)
        return OutgoingNotification(
            .deleted(count: count, since: Timestamp(rawValue: 5)), id: model.id, team: model.team,
            topic: topic.map(Topic.init(rawValue:)) ?? model.topic, environment: model.environment, lane: model.lane,
            at: model.acceptedAt)
    }

    private func told(_ app: TestApp) async -> AgentMessage? {
        await app.inbox.next { if case .messagesDeleted = $0 { true } else { false } }
    }

    @Test func `what the server deleted is stored, acknowledged, and told until the app has taken it`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        session.events(.arrived([deleted(1, 100), outgoing(2)]))
        #expect(await session.acknowledged.next() == [id(1), id(2)])
        let message = AgentMessage.messagesDeleted(deletion: 1, count: 100, since: 5)
        let first = try await harness.readyApp()
        #expect(await told(first) == message)
        try await harness.stop()
        try await harness.start()
        _ = try await loggedIn(harness)
        let second = try await harness.readyApp()
        #expect(await told(second) == message)
        second.send(.deletionTaken(deletion: 1))
        try await harness.stop()
        try await harness.start()
        let last = try await loggedIn(harness)
        let third = try await harness.readyApp()
        last.events(.arrived([deleted(3, 7)]))
        #expect(await told(third) == .messagesDeleted(deletion: 3, count: 7, since: 5), "the first is forgotten")
        try await harness.stop()
    }

    @Test func `a deletion takes the place of the one that it counts too`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        session.events(.arrived([deleted(1, 100), deleted(3, 200)]))
        #expect(await session.acknowledged.next() == [id(1), id(3)])
        #expect(await told(try await harness.readyApp()) == .messagesDeleted(deletion: 3, count: 200, since: 5))
        try await harness.stop()
    }

    @Test func `a notice for an app that is not installed is acknowledged`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        session.events(.arrived([deleted(1, 100, topic: "com.example.gone")]))
        #expect(await session.acknowledged.next() == [id(1)])
        try await harness.stop()
    }

    private func withdrawn(_ id: Int64, _ notification: Int64) -> OutgoingNotification {
        let model = outgoing(id)
        return OutgoingNotification(
            .withdrawn(NotificationID(rawValue: notification)), id: model.id, team: model.team, topic: model.topic,
            environment: model.environment, lane: model.lane, at: model.acceptedAt)
    }

    @Test func `what is withdrawn leaves screen and list, once, and is reported`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        let app = try await harness.readyApp()
        session.events(.arrived([outgoing(1)]))
        _ = await app.delivery()
        app.send(.handled(notification: 1, outcome: .presented(options: 16 + 8)))
        _ = await harness.desktop.show()
        #expect(await session.receipts(2) == ["1 presented", "1 handed"])
        session.events(.arrived([withdrawn(2, 1)]))
        #expect(await session.acknowledged.next { $0 == [id(2)] } == [id(2)])
        #expect(await harness.desktop.withdrawn.next() == id(1))
        session.events(.arrived([withdrawn(2, 1), outgoing(3)]))
        #expect(await session.receipts(1) == ["1 withdrawn"])
        let store = try #require(await harness.agent.withLock { $0 }?.store)
        #expect(try store.read { try $0.listed(app: todoManifest.id, limit: 10) }.map(\.id) == [])
        try await harness.stop()
    }

    @Test func `what is withdrawn before its app had it is not handed over`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        session.events(.arrived([outgoing(1), withdrawn(2, 1), withdrawn(3, 77), outgoing(4)]))
        #expect(await session.acknowledged.next() == [id(1), id(2), id(3), id(4)])
        #expect(await session.receipts(2) == ["1 withdrawn", "77 withdrawn"])
        let app = try await harness.readyApp()
        #expect(try #require(await app.delivery()).id == 4)
        try await harness.stop()
    }
}
