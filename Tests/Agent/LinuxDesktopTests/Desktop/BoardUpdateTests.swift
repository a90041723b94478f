import AgentEngine
import PushCore
import Testing

@testable import LinuxDesktop

/// What is to look otherwise: stills come after the text, and the text goes when the screen is locked.
extension BoardTests {
    /// The same notification with a still.
    private func withStill(_ id: Int64, identifier: String? = nil) -> Presentation {
        var changed = presentation(id, identifier: identifier)
        changed.still = "/still.png"
        return changed
    }

    /// The same notification as it looks on a locked screen.
    private func hidden(_ id: Int64, identifier: String? = nil) -> Presentation {
        var changed = presentation(id, identifier: identifier)
        (changed.title, changed.body) = ("", "Notification")
        return changed
    }

    /// The notifications that a server is given.
    private func messages(_ directives: [DesktopNotificationState.Directive]) -> [NotifyMessage] {
        directives.compactMap { if case .notify(let message, _) = $0 { message } else { nil } }
    }

    @Test func `what is shown gets its still in its place, and nobody is told`() throws {
        var board = board()
        try show(1, as: 7, on: &board)
        let call = try #require(calls(board.handle(.update(withStill(1)))).first)
        #expect(call.replaces == 7)
        #expect(board.handle(.notified(ticket: call.ticket, serverID: 7)) == [])
        #expect(board.handle(.closed(serverID: 7, reason: 2)) == [.tell(.dismissed(id(1)))])
    }

    @Test func `what has gone gets no still`() throws {
        var board = board()
        try show(1, as: 7, on: &board)
        _ = board.handle(.closed(serverID: 7, reason: 2))
        #expect(board.handle(.update(withStill(1))) == [])
        var unknown = DesktopNotificationState()
        #expect(unknown.handle(.update(withStill(1))) == [])
    }

    @Test func `a still does not cover what is newer`() throws {
        var board = board()
        try show(1, as: 7, on: &board, identifier: "a")
        let newer = try #require(calls(board.handle(.present(presentation(2, identifier: "a")))).first)
        #expect(board.handle(.update(withStill(1, identifier: "a"))) == [])
        #expect(
            board.handle(.notified(ticket: newer.ticket, serverID: 7)) == [
                .tell(.left(id(1))), .answer(id(2), .presented(handle: ":1.5 7", note: "test 1")),
            ])
        #expect(board.handle(.update(withStill(1, identifier: "a"))) == [])
        #expect(board.handle(.closed(serverID: 7, reason: 2)) == [.tell(.dismissed(id(2)))])
    }

    @Test func `where the newer is refused the older gets its new look`() throws {
        var board = board()
        try show(1, as: 7, on: &board, identifier: "a")
        let newer = try #require(calls(board.handle(.present(presentation(2, identifier: "a")))).first)
        _ = board.handle(.update(hidden(1, identifier: "a")))
        _ = board.handle(.update(hidden(2, identifier: "a")))
        let directives = board.handle(.notifyFailed(ticket: newer.ticket, reason: "x"))
        #expect(directives.first == .answer(id(2), .failed(reason: "x")))
        #expect(messages(directives).map(\.body) == ["Notification"] && calls(directives).map(\.replaces) == [7])
    }

    @Test func `what is on its way changes as soon as it is there`() throws {
        var board = board()
        let call = try #require(calls(board.handle(.present(presentation(1)))).first)
        #expect(board.handle(.update(hidden(1))) == [])
        let directives = board.handle(.notified(ticket: call.ticket, serverID: 7))
        #expect(directives.first == .answer(id(1), .presented(handle: ":1.5 7", note: "test 1")))
        #expect(messages(directives).map(\.body) == ["Notification"])
        let update = try #require(calls(directives).first)
        #expect(update.replaces == 7)
        #expect(board.handle(.notified(ticket: update.ticket, serverID: 7)) == [])
    }

    @Test(arguments: [true, false])
    func `of the looks that come while one is on its way the last is shown`(isAnswered: Bool) throws {
        var board = board()
        try show(1, as: 7, on: &board)
        let call = try #require(calls(board.handle(.update(presentation(1)))).first)
        #expect(board.handle(.update(withStill(1))) == [] && board.handle(.update(hidden(1))) == [])
        let directives = board.handle(
            isAnswered
                ? .notified(ticket: call.ticket, serverID: 7) : .notifyFailed(ticket: call.ticket, reason: "slow"))
        #expect(messages(directives).map(\.body) == ["Notification"] && directives.count == 1)
        #expect(calls(directives).map(\.replaces) == [7])
    }

    @Test func `what waits for its turn is shown in its new look, with its sound`() throws {
        var board = DesktopNotificationState()
        var loud = presentation(1)
        (loud.sound, loud.volume) = (.standard, 0.5)
        #expect(board.handle(.present(loud)) == [.askFeatures(ticket: 1)])
        #expect(board.handle(.update(hidden(1))) == [])
        let directives = board.handle(.features(features, ticket: 1))
        #expect(messages(directives).map(\.body) == ["Notification"])
        #expect(directives.last == .play(.standard, volume: 0.5) && directives.count == 2)
    }

    @Test func `an update is not heard`() throws {
        var board = DesktopNotificationState()
        _ = board.handle(.present(presentation(1)))
        _ = board.handle(.features(NotificationServerInformation(name: "x", capabilities: ["sound"]), ticket: 1))
        _ = board.handle(.notified(ticket: 2, serverID: 7))
        var loud = presentation(1)
        loud.sound = .standard
        #expect(messages(board.handle(.update(loud))).map(\.hints["suppress-sound"]) == [.boolean(true)])
    }

    @Test func `what was missed is shown in its new look when a server comes`() throws {
        var board = DesktopNotificationState()
        _ = board.handle(.present(presentation(1)))
        _ = board.handle(.featuresFailed(ticket: 1, reason: "none"))
        #expect(board.handle(.update(hidden(1))) == [])
        let ticket = try begin(on: &board)
        let directives = board.handle(.features(features, ticket: ticket))
        #expect(messages(directives).map(\.body) == ["Notification"] && directives.count == 1)
    }

    @Test
    func `what changes while there is no server is shown in its new look by the next, and none is started for it`()
        throws
    {
        var board = board()
        try show(1, as: 7, on: &board)
        #expect(board.handle(.ownerChanged(nil)) == [])
        #expect(board.handle(.update(hidden(1))) == [])
        let ticket = try begin(on: &board)
        let directives = board.handle(.features(features, ticket: ticket))
        #expect(messages(directives).map(\.body) == ["Notification"] && directives.count == 1)
        let again = try #require(calls(directives).first)
        #expect(
            board.handle(.notified(ticket: again.ticket, serverID: 1))
                == [.tell(.shownAgain(id(1), handle: ":1.9 1"))])
    }

    @Test(arguments: [(":1.5", UInt32(7)), (":1.9", 0)], [true, false])
    func `what an earlier run showed gets its new look, in its place where the same server runs`(
        server: (owner: String, replaces: UInt32), isKnown: Bool
    ) throws {
        var board = DesktopNotificationState(inherited: [
            ShownPresentation(presentation: presentation(1), handle: ":1.5 7")
        ])
        // Before or after it is known which server runs.
        if !isKnown { #expect(board.handle(.update(hidden(1))) == []) }
        var directives = board.handle(.ownerChanged(server.owner))
        if isKnown { directives += board.handle(.update(hidden(1))) }
        #expect(directives == [.askFeatures(ticket: 1)])
        let shown = board.handle(.features(features, ticket: 1))
        #expect(messages(shown).map(\.body) == ["Notification"] && calls(shown).map(\.replaces) == [server.replaces])
    }

    @Test func `updates keep no notification from being shown`() throws {
        var board = board()
        for number in 1...UInt32(DesktopNotificationState.waitingLimit) {
            try show(Int64(number), as: number, on: &board)
            for _ in 0..<3 { _ = board.handle(.update(hidden(Int64(number)))) }
        }
        #expect(calls(board.handle(.present(presentation(1000)))).count == 1)
    }

    /// What takes a notification away while its still is being made.
    static let ends: [DesktopNotificationState.Event] = [
        .closed(serverID: 7, reason: 2), .actionInvoked(serverID: 7, key: "default"),
        .withdraw(NotificationID(rawValue: 1)),
    ]

    @Test(arguments: ends)
    func `what goes while its still is on its way is closed again`(end: DesktopNotificationState.Event) throws {
        var board = board()
        try show(1, as: 7, on: &board)
        let call = try #require(calls(board.handle(.update(withStill(1)))).first)
        #expect(board.handle(end) != [])
        #expect(board.handle(.notified(ticket: call.ticket, serverID: 8)) == [.close(serverID: 8)])
        #expect(board.handle(.closed(serverID: 8, reason: 3)) == [])
    }

    @Test func `a still that the server refuses leaves what is shown`() throws {
        var board = board()
        try show(1, as: 7, on: &board)
        let call = try #require(calls(board.handle(.update(withStill(1)))).first)
        #expect(board.handle(.notifyFailed(ticket: call.ticket, reason: "x")) == [])
        #expect(board.handle(.closed(serverID: 7, reason: 2)) == [.tell(.dismissed(id(1)))])
    }

    @Test func `a server that takes the place of one with a still on its way is given the notification once`() throws {
        var board = board()
        try show(1, as: 7, on: &board)
        _ = board.handle(.update(withStill(1)))
        #expect(board.handle(.ownerChanged(nil)) == [])
        guard case .askFeatures(let ticket)? = board.handle(.ownerChanged(":1.9")).first else {
            Issue.record("not asked")
            return
        }
        let again = board.handle(.features(features, ticket: ticket))
        guard case .notify(let message, _)? = again.first, again.count == 1 else {
            Issue.record("not shown once: \(again)")
            return
        }
        #expect(message.replaces == 0 && message.hints["image-path"] == .string("/still.png"))
    }
}
