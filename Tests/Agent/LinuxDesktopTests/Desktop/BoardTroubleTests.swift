import PushCore
import Testing

@testable import LinuxDesktop

/// Servers and buses that end while a call is pending.
extension BoardTests {
    /// A server begins: the ticket by which it is asked what it can do.
    func begin(_ owner: String = ":1.9", on board: inout DesktopNotificationState) throws -> UInt64 {
        let tickets = board.handle(.ownerChanged(owner)).compactMap {
            if case .askFeatures(let ticket) = $0 { ticket } else { nil }
        }
        return try #require(tickets.first)
    }

    @Test func `what is taken back while it is shown anew is closed, and not told as shown`() throws {
        var board = board()
        try show(1, as: 7, on: &board)
        _ = board.handle(.ownerChanged(nil))
        let ticket = try begin(on: &board)
        let again = try #require(calls(board.handle(.features(features, ticket: ticket))).first)
        #expect(board.handle(.withdraw(id(1))) == [])
        #expect(board.handle(.notified(ticket: again.ticket, serverID: 1)) == [.close(serverID: 1)])
        #expect(board.handle(.closed(serverID: 1, reason: 3)) == [])
    }

    @Test func `what was taken back is not given to the next server`() throws {
        var board = board()
        _ = board.handle(.present(presentation(1)))
        #expect(board.handle(.withdraw(id(1))) == [])
        #expect(board.handle(.ownerChanged(nil)) == [.answer(id(1), .failed(reason: "it was taken back"))])
        #expect(board.handle(.ownerChanged(":1.9")) == [])
    }

    @Test func `what was taken back before the bus went is not missed`() throws {
        var board = board()
        _ = board.handle(.present(presentation(1)))
        _ = board.handle(.withdraw(id(1)))
        #expect(board.handle(.disconnected(reason: "gone")) == [.answer(id(1), .failed(reason: "gone"))])
        #expect(board.handle(.ownerChanged(":1.9")) == [])
    }

    @Test func `a question that could not be asked is not asked when a server comes`() throws {
        var board = DesktopNotificationState()
        var question = presentation(1)
        question.isQuestion = true
        #expect(board.handle(.present(question)) == [.askFeatures(ticket: 1)])
        #expect(board.handle(.featuresFailed(ticket: 1, reason: "none")) == [.answer(id(1), .failed(reason: "none"))])
        #expect(board.handle(.ownerChanged(":1.9")) == [])
    }

    @Test(arguments: [[], ["sound"]] as [Set<String>])
    func `a sound is heard once, whichever server answers`(capabilities: Set<String>) throws {
        var board = board()
        var loud = presentation(1)
        loud.sound = .standard
        #expect(board.handle(.present(loud)).contains(.play(.standard, volume: nil)))
        // The next server is looked for at once: the bus may start it.
        guard case .askFeatures(let ticket)? = board.handle(.ownerChanged(nil)).first else {
            Issue.record("not asked")
            return
        }
        let directives = board.handle(
            .features(NotificationServerInformation(name: "x", capabilities: capabilities), ticket: ticket))
        guard case .notify(let message, let call)? = directives.first, directives.count == 1 else {
            Issue.record("not shown, or heard again: \(directives)")
            return
        }
        #expect(message.hints["suppress-sound"] == .boolean(true))
        // It has not been answered yet, so it is no repetition.
        let answered = board.handle(.notified(ticket: call, serverID: 7))
        #expect(answered == [.answer(id(1), .presented(handle: nil, note: "x"))])
    }
}
