import AgentEngine
import AgentProtocol
import DeviceTestSupport
import PushCore
import Testing

@testable import AgentRuntime

/// Messages of apps to their providers, and topics.
@Suite(.timeLimit(.minutes(5)))
struct AppRequestTests {
    private func loggedIn(_ harness: AgentHarness) async throws -> FakeSession {
        let session = try #require(await harness.server.sessions.next())
        session.events(.loggedIn)
        return session
    }

    private func draft(_ id: String, timeToLive: Int64 = 60, data: [String: String] = ["item": "milk"]) -> UpstreamDraft
    {
        UpstreamDraft(id: id, to: "42@gcm.googleapis.com", data: data, timeToLive: timeToLive)
    }

    private func next(_ app: TestApp) async -> ChannelEvent? {
        let message = await app.inbox.next {
            switch $0 {
            case .channel(.state), .channel(.message): false
            case .channel: true
            default: false
            }
        }
        guard case .channel(let event)? = message else { return nil }
        return event
    }

    @Test func `a message is stored, sent in order, and its end is told until the app knows`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        let app = try await harness.readyApp()
        app.send(.channel(.send(request: 1, draft("a"))), .channel(.send(request: 2, draft("b"))))
        #expect(await next(app) == .accepted(request: 1))
        #expect(await next(app) == .accepted(request: 2))
        let first = try #require(await session.sent.next())
        #expect(first.draft == draft("a"))
        #expect(first.app == "com.example.todo")
        #expect(await session.sent.next()?.draft.id == "b")
        session.events(.reportConfirmed([first.persistentID]))
        #expect(await next(app) == .ended(upstream: first.sequence.rawValue, id: "a", code: nil))
        try await app.close()
        let again = try await harness.readyApp()
        #expect(await next(again) == .ended(upstream: first.sequence.rawValue, id: "a", code: nil))
        again.send(.channel(.endTaken(upstream: first.sequence.rawValue)), .channel(.send(request: 3, draft("a"))))
        #expect(await next(again) == .accepted(request: 3), "the name is free again")
        #expect(await session.sent.next()?.draft.id == "a")
        try await harness.stop()
    }

    @Test func `what was not confirmed is sent again in the next session, also after a restart`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        let app = try await harness.readyApp()
        app.send(.channel(.send(request: 1, draft("a"))), .channel(.send(request: 2, draft("b"))))
        let first = try #require(await session.sent.next())
        _ = await session.sent.next()
        session.end(.lost("the network"))
        let second = try await loggedIn(harness)
        #expect(await second.sent.next() == first)
        try await harness.stop()
        try await harness.start()
        let third = try await loggedIn(harness)
        #expect(await third.sent.next() == first)
        #expect(await third.sent.next()?.draft.id == "b")
        try await harness.stop()
    }

    @Test func `the server's word is awaited on what was sent before a restart, though its time is over`() async throws
    {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        let app = try await harness.readyApp()
        app.send(.channel(.send(request: 1, draft("a", timeToLive: 1))))
        let sent = try #require(await session.sent.next())
        try await harness.stop()
        harness.time.withLock { $0 = noon.adding(milliseconds: 60_000) }
        try await harness.start()
        _ = await harness.server.sessions.next()
        let again = try await harness.readyApp()
        again.send(.channel(.send(request: 2, draft("b", timeToLive: 1))))
        #expect(await next(again) == .accepted(request: 2), "nothing ended before")
        harness.time.withLock { $0 = noon.adding(milliseconds: 120_000) }
        try await harness.stop()
        try await harness.start()
        let third = try await harness.readyApp()
        guard case .ended(_, id: "b", code: ChannelFault.expired)? = await next(third) else {
            Issue.record("the one that was never sent ends, and it alone")
            return
        }
        let later = try await loggedIn(harness)
        #expect(await later.sent.next() == sent)
        later.events(.reportConfirmed([sent.persistentID]))
        #expect(await next(third) == .ended(upstream: sent.sequence.rawValue, id: "a", code: nil))
        try await harness.stop()
    }

    @Test func `a message that the server refuses fails with its words`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        let app = try await harness.readyApp()
        app.send(.channel(.send(request: 1, draft("a"))))
        let sent = try #require(await session.sent.next())
        session.events(.refused(sent.persistentID, code: "404 nobody"))
        session.events(.reportConfirmed([sent.persistentID]))
        _ = await next(app)
        #expect(await next(app) == .ended(upstream: sent.sequence.rawValue, id: "a", code: "404 nobody"))
        try await harness.stop()
    }

    @Test func `at most eight are unconfirmed`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        let app = try await harness.readyApp()
        for number in 1...9 { app.send(.channel(.send(request: Int64(number), draft("m\(number)")))) }
        var sent: [QueuedUpstream] = []
        while sent.count < 8, let message = await session.sent.next() { sent.append(message) }
        session.events(.reportConfirmed([sent[0].persistentID]))
        #expect(await session.sent.next()?.draft.id == "m9")
        try await harness.stop()
    }

    @Test func `a message that is asked again is queued once, and another of its name is refused`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        app.send(
            .channel(.send(request: 1, draft("a"))), .channel(.send(request: 1, draft("a"))),
            .channel(.send(request: 2, draft("a", data: ["item": "bread"]))))
        #expect(await next(app) == .accepted(request: 1))
        #expect(await next(app) == .accepted(request: 1))
        #expect(
            await next(app)
                == .refused(request: 2, code: "DuplicateMessageId", message: "it was refused: DuplicateMessageId"))
        try await harness.stop()
    }

    @Test(arguments: [
        (UpstreamDraft(id: "", to: "42", data: [:], timeToLive: 1), ChannelFault.invalid),
        (UpstreamDraft(id: "a", to: "", data: [:], timeToLive: 1), ChannelFault.invalid),
        (UpstreamDraft(id: "a", to: "42", data: [:], timeToLive: -1), ChannelFault.invalid),
        (UpstreamDraft(id: "a", to: "42", data: [:], timeToLive: 86_401), ChannelFault.invalid),
        (
            UpstreamDraft(id: "a", to: "42", data: ["k": String(repeating: "x", count: 4096)], timeToLive: 1),
            ChannelFault.tooBig
        ),
        (UpstreamDraft(id: "a", to: "42", data: [:], timeToLive: 0), ChannelFault.offline),
    ])
    func `what may not be sent is refused at once`(draft: UpstreamDraft, code: String) async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        app.send(.channel(.send(request: 1, draft)))
        guard case .refused(1, code, _)? = await next(app) else {
            Issue.record("it was taken")
            return
        }
        try await harness.stop()
    }

    @Test func `the outbox has its limits, and what is late ends`() throws {
        let harness = try AgentHarness()
        let store = try AgentStore.open(path: harness.folder.path("store.sqlite"), now: noon).store
        func queue(_ number: Int) -> StoreChange {
            .upstreamQueued(draft("m\(number)", timeToLive: 1), app: todoManifest.id, waiter: 1, at: noon)
        }
        _ = try store.commit((1...UpstreamLimits.waiting).map(queue))
        #expect(try store.commit([queue(0)]) == [.upstreamQueued(waiter: 1, fault: ChannelFault.tooMany)])
        #expect(try store.read { try $0.nextUpstreamExpiry() } == noon.adding(milliseconds: 1000))
        let results = try store.commit([.upstreamExpired(at: noon.adding(milliseconds: 1000))])
        guard case .upstreamEnded(let ended) = try #require(results.first) else { return }
        #expect(ended[todoManifest.id]?.count == UpstreamLimits.waiting)
        #expect(ended[todoManifest.id]?.allSatisfy { $0.code == ChannelFault.expired } == true)
        _ = try store.commit([queue(-1), .upstreamExpired(at: noon.adding(milliseconds: 1000))])
        let untold = try store.read { try $0.endedUpstream(app: todoManifest.id) }
        #expect(untold.count == UpstreamLimits.untold)
        #expect(untold.last?.id == "m-1", "the oldest goes")
    }

    @Test func `what the server may have does not end because its time is over`() throws {
        let harness = try AgentHarness()
        let store = try AgentStore.open(path: harness.folder.path("store.sqlite"), now: noon).store
        _ = try store.commit(
            ["sent", "waiting"].map {
                .upstreamQueued(draft($0, timeToLive: 1), app: todoManifest.id, waiter: 1, at: noon)
            })
        let late = noon.adding(milliseconds: 1000)
        let sent = try #require(try store.takeUpstream(after: 0, limit: 1).first)
        let results = try store.commit([.upstreamExpired(at: late)])
        guard case .upstreamEnded(let ended) = try #require(results.first) else { return }
        #expect(ended[todoManifest.id]?.map(\.id) == ["waiting"])
        #expect(try store.read { try $0.nextUpstreamExpiry() } == late.adding(milliseconds: UpstreamLimits.doubt))
        #expect(
            try store.takeUpstream(after: 0, limit: 9) == [sent], "it is sent again in the next session")
        _ = try store.commit([.upstreamEnded(sent.sequence, code: nil)])
        #expect(try store.read { try $0.nextUpstreamExpiry() } == nil)
    }

    @Test func `topics wait for the app's token, and are asked until the server answers, the last wish for each`()
        async throws
    {
        let harness = try AgentHarness()
        try await harness.start()
        _ = try await loggedIn(harness)
        let app = try await harness.readyApp()
        app.send(
            .channel(.topic(request: 1, name: "news", joins: true)),
            .channel(.topic(request: 2, name: "sport", joins: true)),
            .channel(.topic(request: 3, name: "news", joins: false)), .getSettings(request: 9))
        _ = await app.inbox.next { if case .settings = $0 { true } else { false } }
        harness.server.topicRefusals.withLock { $0 = [.unavailable("later"), .refused("TOO_MANY_TOPICS")] }
        app.send(.registerForRemoteNotifications(request: 4))
        #expect(await harness.server.topics.next() == "+sport 101")
        #expect(await harness.server.topics.next() == "+sport 101")
        #expect(await harness.server.topics.next() == "-news 101")
        guard case .refused(2, "TOO_MANY_TOPICS", _)? = await next(app) else {
            Issue.record("it was not refused")
            return
        }
        #expect([await next(app), await next(app)] == [.accepted(request: 1), .accepted(request: 3)])
        try await harness.stop()
    }

    @Test func `topics that were not answered are asked after a restart`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        app.send(.channel(.topic(request: 1, name: "news", joins: true)), .getSettings(request: 9))
        _ = await app.inbox.next { if case .settings = $0 { true } else { false } }
        try await harness.stop()
        try await harness.start()
        _ = try await loggedIn(harness)
        let again = try await harness.readyApp()
        again.send(.registerForRemoteNotifications(request: 1))
        #expect(await harness.server.topics.next() == "+news 101")
        try await harness.stop()
    }

    @Test(arguments: ["", "a b", "/topics/a", "né", String(repeating: "a", count: 901)])
    func `what is no topic is refused`(name: String) async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        app.send(.channel(.topic(request: 1, name: name, joins: true)))
        guard case .refused(1, ChannelFault.invalid, _)? = await next(app) else {
            Issue.record("it was taken")
            return
        }
        try await harness.stop()
    }
}
