import AgentCore
import PushModel
import Testing

@testable import Desktop

/// Stills, which come after the text.
extension BoardTests {
    /// The same notification with a still.
    private func withStill(_ id: Int64, identifier: String? = nil) -> Presentation {
        var changed = presentation(id, identifier: identifier)
        changed.still = "/still.png"
        return changed
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
        var unknown = Board()
        #expect(unknown.handle(.update(withStill(1))) == [])
    }

    @Test func `a still does not cover what is newer, nor what is on its way`() throws {
        var board = board()
        try show(1, as: 7, on: &board, identifier: "a")
        let newer = try #require(calls(board.handle(.present(presentation(2, identifier: "a")))).first)
        #expect(board.handle(.update(withStill(1, identifier: "a"))) == [])
        _ = board.handle(.notified(ticket: newer.ticket, serverID: 7))
        #expect(board.handle(.update(withStill(1, identifier: "a"))) == [])
        #expect(board.handle(.closed(serverID: 7, reason: 2)) == [.tell(.dismissed(id(2)))])
    }

    /// What takes a notification away while its still is on its way.
    static let ends: [Board.Event] = [
        .closed(serverID: 7, reason: 2), .actionInvoked(serverID: 7, key: "default"),
        .withdraw(NotificationID(rawValue: 1)),
    ]

    @Test(arguments: ends)
    func `what goes while its still is on its way is closed again`(end: Board.Event) throws {
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
