import AgentEngine
import AgentProtocol
import DeviceTestSupport
import PushCore
import Testing

@testable import AgentRuntime

/// Data messages through the agent to an app's direct channel.
@Suite(.timeLimit(.minutes(5)))
struct DirectChannelTests {
    private func loggedIn(_ harness: AgentHarness) async throws -> FakeSession {
        let session = try #require(await harness.server.sessions.next())
        session.events(.loggedIn)
        return session
    }

    private func id(_ raw: Int64) -> NotificationID { NotificationID(rawValue: raw) }

    private func message(_ app: TestApp) async -> DeliveredNotification? {
        let event = await app.inbox.next {
            if case .channel(.message) = $0 { true } else { false }
        }
        guard case .channel(.message(let message))? = event else { return nil }
        return message
    }

    private func event(_ app: TestApp, _ wanted: ChannelEvent) async -> Bool {
        await app.inbox.next { $0 == .channel(wanted) } != nil
    }

    @Test func `a data message waits until the channel is open, and ends when the app had it`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        session.events(.arrived([fcmMessage(1, #""k":"v""#), fcmMessage(2, #""k":"w""#)]))
        #expect(await session.acknowledged.next() == [id(1), id(2)])
        let app = try await harness.readyApp()
        app.send(.channel(.open))
        #expect(await message(app)?.id == 1)
        #expect(await message(app)?.payload.contains(#""k":"w""#) == true)
        app.send(.channel(.taken(message: 1)))
        #expect(await event(app, .takenConfirmed(messages: [1])))
        #expect(await session.receipts(1) == ["1 handed"])
        try await harness.stop()
    }

    @Test func `what the app did not confirm is told again on its next connection, in order`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        let first = try await harness.readyApp()
        first.send(.channel(.open))
        #expect(await event(first, .state(isConnected: true)))
        session.events(.arrived([fcmMessage(1, #""k":"v""#), fcmMessage(2, #""k":"w""#)]))
        #expect(await message(first)?.id == 1)
        #expect(await message(first)?.id == 2)
        first.send(.channel(.taken(message: 2)))
        #expect(await event(first, .takenConfirmed(messages: [2])))
        try await first.close()
        try await harness.stop()
        try await harness.start()
        let second = try await harness.readyApp()
        second.send(.channel(.open))
        #expect(await message(second)?.id == 1)
        let last = try await loggedIn(harness)
        last.events(.arrived([fcmMessage(3, #""k":"x""#)]))
        #expect(await message(second)?.id == 3, "the second is not told again")
        try await harness.stop()
    }

    @Test func `nothing comes while the channel is closed`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        let app = try await harness.readyApp()
        app.send(.channel(.open), .channel(.close))
        session.events(.arrived([fcmMessage(1, #""k":"v""#), outgoing(2)]))
        #expect(await app.delivery()?.id == 2)
        app.send(.channel(.open))
        #expect(await message(app)?.id == 1)
        try await harness.stop()
    }

    @Test func `one with aps is shown like any other`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        session.events(.arrived([fcmMessage(1, #""k":"v","aps":{"alert":{"title":"Milk","body":"Two"}}"#)]))
        let shown = try #require(await harness.desktop.show())
        #expect(shown.title == "Milk")
        #expect(await session.receipts(1) == ["1 presented"])
        harness.desktop.does(.opened(id(1), activationToken: nil))
        let app = try await harness.readyApp()
        guard
            case .respond(let response, _, _, _)? = await app.inbox.next(where: {
                if case .respond = $0 { true } else { false }
            })
        else { return }
        app.send(.responseHandled(response: response))
        #expect(await session.receipts(2) == ["1 opened", "1 handed"])
        try await harness.stop()
    }

    @Test func `one attempt goes to an open channel or nowhere`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        session.events(.arrived([fcmMessage(1, #""k":"v""#, expiresAt: nil)]))
        #expect(await session.receipts(1) == ["1 dropped(offline)"])
        let app = try await harness.readyApp()
        app.send(.channel(.open))
        #expect(await event(app, .state(isConnected: true)))
        session.events(.arrived([fcmMessage(2, #""k":"v""#, expiresAt: nil)]))
        #expect(await message(app)?.id == 2)
        try await harness.stop()
    }

    @Test func `what has expired ends, and is not given to the app`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        session.events(
            .arrived([fcmMessage(1, #""k":"v""#, expiresAt: noon), fcmMessage(2, #""k":"w""#)]))
        #expect(await session.receipts(1) == ["1 expired"])
        let app = try await harness.readyApp()
        app.send(.channel(.open))
        #expect(await message(app)?.id == 2)
        try await harness.stop()
    }

    @Test func `the 101st that waits empties the queue, and the app is told`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        session.events(.arrived((1...101).map { fcmMessage($0, #""k":"v""#) }))
        #expect(await session.receipts(100) == (1...100).map { "\($0) dropped(overflow)" })
        let app = try await harness.readyApp()
        let told = await app.inbox.next { if case .messagesDeleted = $0 { true } else { false } }
        #expect(told == .messagesDeleted(deletion: 101, count: 100, since: noon.rawValue))
        app.send(.channel(.open))
        #expect(await message(app)?.id == 101)
        try await harness.stop()
    }

    @Test func `a later one with the same collapse key takes the place of the one that waits`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        session.events(
            .arrived([
                fcmMessage(1, #""n":"1","collapse_key":"score""#), fcmMessage(2, #""n":"2""#, collapseID: "news"),
                fcmMessage(3, #""n":"3","collapse_key":"score""#),
            ]))
        #expect(await session.receipts(1) == ["1 replaced"])
        let app = try await harness.readyApp()
        app.send(.channel(.open))
        #expect(await message(app)?.id == 2)
        #expect(await message(app)?.id == 3)
        try await harness.stop()
    }

    @Test func `a fifth collapse key puts out the oldest`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        session.events(.arrived((1...5).map { fcmMessage($0, #""n":"1""#, collapseID: "key \($0)") }))
        #expect(await session.receipts(1) == ["1 dropped(overflow)"])
        try await harness.stop()
    }

    @Test func `what is withdrawn before the app had it does not come`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        let model = fcmMessage(2, #""k":"v""#)
        session.events(
            .arrived([
                fcmMessage(1, #""k":"v""#),
                OutgoingNotification(
                    .withdrawn(id(1)), id: model.id, team: model.team, topic: model.topic,
                    environment: model.environment, lane: model.lane, at: model.acceptedAt),
                fcmMessage(3, #""k":"v""#),
            ]))
        #expect(await session.receipts(1) == ["1 withdrawn"])
        let app = try await harness.readyApp()
        app.send(.channel(.open))
        #expect(await message(app)?.id == 3)
        try await harness.stop()
    }

    @Test func `messages for an app that is not installed, or is removed, end with their reason`() throws {
        let harness = try AgentHarness()
        let store = try AgentStore.open(path: harness.folder.path("store.sqlite"), now: noon).store
        func arrived(_ id: Int64, installed: Bool) -> StoreChange {
            .dataArrived(
                ArrivedData(
                    message: fcmMessage(id, #""k":"v""#), session: 1, receivedAt: noon, isForInstalledApp: installed,
                    isChannelOpen: false))
        }
        _ = try store.commit([
            arrived(1, installed: false), arrived(2, installed: true), arrived(2, installed: true),
            .appRemoved(app: todoManifest.id, at: noon),
        ])
        #expect(try store.outbox() == ["1 dropped(unregistered)", "2 dropped(unregistered)"])
        #expect(try store.read { try $0.appsWithData() } == [])
    }
}
