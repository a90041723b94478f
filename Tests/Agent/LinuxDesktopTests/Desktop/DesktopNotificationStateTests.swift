import AgentEngine
import AgentProtocol
import PushCore
import Testing

@testable import LinuxDesktop

func presentation(_ id: Int64, identifier: String? = nil, app: BundleID = "com.example.todo") -> Presentation {
    Presentation(
        notification: NotificationID(rawValue: id), app: app, appName: "Todo", identifier: identifier ?? "id-\(id)",
        title: "Milk \(id)", body: "Two litres & <bread>")
}

struct BoardTests {
    let features = NotificationServerInformation(name: "test 1", capabilities: ["actions", "body-markup"])

    func id(_ raw: Int64) -> NotificationID { NotificationID(rawValue: raw) }

    /// A board whose server is known.
    func board(inherited: [ShownPresentation] = []) -> DesktopNotificationState {
        var board = DesktopNotificationState(inherited: inherited)
        _ = board.handle(.ownerChanged(":1.5"))
        _ = board.handle(.present(presentation(900)))
        _ = board.handle(.features(features, ticket: 1))
        _ = board.handle(.notified(ticket: 2, serverID: 900))
        _ = board.handle(.closed(serverID: 900, reason: 1))
        return board
    }

    /// The ticket and `replaces_id` of each call.
    func calls(_ directives: [DesktopNotificationState.Directive]) -> [(ticket: UInt64, replaces: UInt32)] {
        directives.compactMap {
            if case .notify(let message, let ticket) = $0 { (ticket, message.replaces) } else { nil }
        }
    }

    /// Shows a notification as `serverID`.
    func show(_ id: Int64, as serverID: UInt32, on board: inout DesktopNotificationState, identifier: String? = nil)
        throws
    {
        let call = try #require(calls(board.handle(.present(presentation(id, identifier: identifier)))).first)
        _ = board.handle(.notified(ticket: call.ticket, serverID: serverID))
    }

    @Test func `the server is asked what it can do before anything is shown`() {
        var board = DesktopNotificationState()
        #expect(board.handle(.present(presentation(1))) == [.askFeatures(ticket: 1)])
        #expect(board.handle(.present(presentation(2))) == [])
        #expect(board.handle(.features(features, ticket: 77)) == [])
        let directives = board.handle(.features(features, ticket: 1))
        #expect(calls(directives).map(\.ticket) == [2, 3])
        #expect(
            board.handle(.notified(ticket: 2, serverID: 40))
                == [.answer(id(1), .presented(handle: nil, note: "test 1"))])
    }

    @Test func `without a server everything that waits is answered with the reason`() {
        var board = DesktopNotificationState()
        _ = board.handle(.present(presentation(1)))
        #expect(board.handle(.featuresFailed(ticket: 1, reason: "none")) == [.answer(id(1), .failed(reason: "none"))])
        #expect(board.handle(.present(presentation(2))) == [.askFeatures(ticket: 2)])
    }

    @Test func `the same identifier replaces what is shown, one after the other`() throws {
        var board = board()
        let first = try #require(calls(board.handle(.present(presentation(1, identifier: "a")))).first)
        #expect(first.replaces == 0)
        #expect(board.handle(.present(presentation(2, identifier: "a"))) == [])
        let answered = board.handle(.notified(ticket: first.ticket, serverID: 7))
        #expect(answered.first == .answer(id(1), .presented(handle: ":1.5 7", note: "test 1")))
        let second = try #require(calls(answered).first)
        #expect(second.replaces == 7)
        #expect(
            board.handle(.notified(ticket: second.ticket, serverID: 7)) == [
                .tell(.left(id(1))), .answer(id(2), .presented(handle: ":1.5 7", note: "test 1")),
            ])
    }

    @Test func `the same identifier of another app is another notification`() throws {
        var board = board()
        try show(1, as: 7, on: &board, identifier: "a")
        let other = calls(board.handle(.present(presentation(2, identifier: "a", app: "com.example.other"))))
        #expect(other.map(\.replaces) == [0])
    }

    @Test func `an action opens the notification, with its token, and closes it`() throws {
        var board = board()
        try show(1, as: 7, on: &board)
        #expect(board.handle(.activationToken(serverID: 7, token: "focus")) == [])
        #expect(
            board.handle(.actionInvoked(serverID: 7, key: "default")) == [
                .tell(.opened(id(1), activationToken: "focus")), .close(serverID: 7),
            ])
        #expect(board.handle(.closed(serverID: 7, reason: 2)) == [])
    }

    @Test(arguments: [(UInt32(1), false), (2, true), (3, false), (4, false), (99, false)])
    func `only reason two is a dismissal`(reason: UInt32, isDismissal: Bool) throws {
        var board = board()
        try show(1, as: 7, on: &board)
        let event: PresenterEvent = isDismissal ? .dismissed(id(1)) : .left(id(1))
        #expect(board.handle(.closed(serverID: 7, reason: reason)) == [.tell(event)])
        #expect(board.handle(.closed(serverID: 7, reason: reason)) == [])
    }

    @Test func `signals of other programs' notifications are ignored`() throws {
        var board = board()
        try show(1, as: 7, on: &board)
        #expect(board.handle(.actionInvoked(serverID: 8, key: "default")) == [])
        #expect(board.handle(.actionInvoked(serverID: 7, key: "other")) == [])
        #expect(board.handle(.closed(serverID: 8, reason: 2)) == [])
        #expect(board.handle(.notified(ticket: 77, serverID: 1)) == [])
        #expect(board.handle(.notifyFailed(ticket: 77, reason: "x")) == [])
    }

    @Test(arguments: [
        ("default", PresenterEvent.opened(NotificationID(rawValue: 1), activationToken: "token")),
        (
            "button:done",
            .pressed(NotificationID(rawValue: 1), button: "done", activationToken: "token")
        ),
    ])
    func `a pressed button is told by its own name, and the notification goes`(
        key: String, event: PresenterEvent
    ) throws {
        var board = board()
        var presentation = presentation(1)
        presentation.buttons = [.init(identifier: "done", label: "Done")]
        let call = try #require(calls(board.handle(.present(presentation))).first)
        _ = board.handle(.notified(ticket: call.ticket, serverID: 7))
        #expect(board.handle(.actionInvoked(serverID: 7, key: "button:unknown")) == [])
        _ = board.handle(.activationToken(serverID: 7, token: "token"))
        #expect(board.handle(.actionInvoked(serverID: 7, key: key)) == [.tell(event), .close(serverID: 7)])
        #expect(board.handle(.actionInvoked(serverID: 7, key: key)) == [])
    }

    @Test func `a text that was typed is told with its button`() throws {
        var board = board()
        var presentation = presentation(1)
        presentation.buttons = [
            .init(identifier: "done", label: "Done"),
            .init(identifier: "answer", label: "Answer", reply: .init(placeholder: "", submitLabel: "Send")),
        ]
        let call = try #require(calls(board.handle(.present(presentation))).first)
        _ = board.handle(.notified(ticket: call.ticket, serverID: 7))
        #expect(
            board.handle(.replied(serverID: 7, text: "soon"))
                == [.tell(.replied(id(1), button: "answer", text: "soon")), .close(serverID: 7)])
        #expect(board.handle(.replied(serverID: 7, text: "again")) == [])
    }

    @Test func `a withdrawn notification is closed and forgotten`() throws {
        var board = board()
        try show(1, as: 7, on: &board)
        #expect(board.handle(.withdraw(id(1))) == [.close(serverID: 7)])
        #expect(board.handle(.withdraw(id(1))) == [])
        #expect(board.handle(.closed(serverID: 7, reason: 3)) == [])
    }

    @Test func `what is taken back before it is shown is closed as soon as it can be`() throws {
        var board = board()
        let call = try #require(calls(board.handle(.present(presentation(1, identifier: "a")))).first)
        #expect(board.handle(.present(presentation(2, identifier: "a"))) == [])
        #expect(board.handle(.withdraw(id(2))) == [.answer(id(2), .failed(reason: "it was taken back"))])
        #expect(board.handle(.withdraw(id(1))) == [])
        let directives = board.handle(.notified(ticket: call.ticket, serverID: 7))
        #expect(directives.last == .close(serverID: 7) && directives.count == 2)
        #expect(board.handle(.actionInvoked(serverID: 7, key: "default")) == [])
    }

    @Test func `a new server is given again what the old one showed`() throws {
        var board = board()
        try show(1, as: 7, on: &board)
        try show(2, as: 8, on: &board)
        #expect(board.handle(.ownerChanged(nil)) == [])
        let asked = board.handle(.ownerChanged(":1.9"))
        guard case .askFeatures(let ticket)? = asked.first, asked.count == 1 else {
            Issue.record("not asked")
            return
        }
        let again = calls(board.handle(.features(features, ticket: ticket)))
        #expect(again.map(\.replaces) == [0, 0])
        #expect(
            board.handle(.notified(ticket: again[0].ticket, serverID: 1))
                == [.tell(.shownAgain(id(1), handle: ":1.9 1"))])
        #expect(board.handle(.notifyFailed(ticket: again[1].ticket, reason: "x")) == [.tell(.left(id(2)))])
        #expect(
            board.handle(.actionInvoked(serverID: 1, key: "default")).first
                == .tell(.opened(id(1), activationToken: nil)))
    }

    @Test func `what a server did not live to answer is given to the next`() throws {
        var board = board()
        let call = try #require(calls(board.handle(.present(presentation(1)))).first)
        guard case .askFeatures(let ticket)? = board.handle(.ownerChanged(nil)).first else {
            Issue.record("not asked")
            return
        }
        #expect(board.handle(.notifyFailed(ticket: call.ticket, reason: "no reply")) == [])
        #expect(calls(board.handle(.features(features, ticket: ticket))).count == 1)
    }

    @Test func `the same owner again changes nothing`() throws {
        var board = board()
        try show(1, as: 7, on: &board)
        #expect(board.handle(.ownerChanged(":1.5")) == [])
        #expect(board.handle(.closed(serverID: 7, reason: 2)) == [.tell(.dismissed(id(1)))])
    }

    @Test func `what is taken back before its server is known leaves the screen, on that server alone`() {
        for (server, closes) in [(":1.5", true), (":1.6", false)] {
            var board = DesktopNotificationState(inherited: [
                ShownPresentation(presentation: presentation(1), handle: ":1.5 7")
            ])
            #expect(board.handle(.withdraw(id(1))) == [])
            #expect(board.handle(.ownerChanged(server)) == (closes ? [.close(serverID: 7)] : []))
        }
    }

    @Test func `a question of an earlier run is not asked again by another server`() {
        var question = presentation(1)
        question.isQuestion = true
        var board = DesktopNotificationState(inherited: [ShownPresentation(presentation: question, handle: ":1.5 7")])
        #expect(board.handle(.ownerChanged(":1.6")) == [])
    }

    @Test func `what an earlier run showed is taken over from the same server only`() {
        let inherited = [
            ShownPresentation(presentation: presentation(1), handle: ":1.5 7"),
            ShownPresentation(presentation: presentation(2), handle: ":1.4 7"),
            ShownPresentation(presentation: presentation(3), handle: "nonsense"),
        ]
        var board = DesktopNotificationState(inherited: inherited)
        guard case .askFeatures(let ticket)? = board.handle(.ownerChanged(":1.5")).first else {
            Issue.record("not asked")
            return
        }
        #expect(board.handle(.closed(serverID: 7, reason: 2)) == [.tell(.dismissed(id(1)))])
        // What other servers showed this one shows again.
        #expect(calls(board.handle(.features(features, ticket: ticket))).count == 2)
    }

    @Test func `what came while no server was there is shown, silently, when one comes, unless it was taken back`()
        throws
    {
        var board = DesktopNotificationState()
        var first = presentation(1)
        first.sound = .standard
        guard case .askFeatures(let asked)? = board.handle(.present(first)).first else {
            Issue.record("not asked")
            return
        }
        _ = board.handle(.present(presentation(2)))
        #expect(
            board.handle(.featuresFailed(ticket: asked, reason: "none")) == [
                .answer(id(1), .failed(reason: "none")), .answer(id(2), .failed(reason: "none")),
            ])
        #expect(board.handle(.withdraw(id(2))) == [])
        guard case .askFeatures(let ticket)? = board.handle(.ownerChanged(":1.5")).first else {
            Issue.record("not asked")
            return
        }
        let directives = board.handle(.features(features, ticket: ticket))
        let shown = calls(directives)
        guard case .notify(let message, _)? = directives.first, directives.count == 1 else {
            Issue.record("\(directives)")
            return
        }
        #expect(message.hints["suppress-sound"] == .boolean(true))
        #expect(
            board.handle(.notified(ticket: shown[0].ticket, serverID: 1))
                == [.tell(.shownAgain(id(1), handle: ":1.5 1"))])
    }

    @Test(arguments: [(["sound"], false), ([], true)] as [(Set<String>, Bool)])
    func `what the server does not play is played here`(capabilities: Set<String>, isPlayed: Bool) throws {
        var board = DesktopNotificationState()
        var loud = presentation(1)
        loud.sound = .file("/tmp/bell.wav")
        loud.volume = 0.5
        guard case .askFeatures(let ticket)? = board.handle(.present(loud)).first else {
            Issue.record("not asked")
            return
        }
        let directives = board.handle(
            .features(NotificationServerInformation(name: "x", capabilities: capabilities), ticket: ticket))
        #expect(directives.contains(.play(.file("/tmp/bell.wav"), volume: 0.5)) == isPlayed)
        #expect(calls(directives).count == 1)
    }

    @Test func `a question is refused where the server shows no buttons`() throws {
        var board = DesktopNotificationState()
        var question = presentation(1)
        question.isQuestion = true
        guard case .askFeatures(let ticket)? = board.handle(.present(question)).first else {
            Issue.record("not asked")
            return
        }
        let directives = board.handle(
            .features(NotificationServerInformation(name: "x", capabilities: []), ticket: ticket))
        #expect(directives == [.answer(id(1), .failed(reason: "x shows no buttons"))])
    }

    @Test func `when the bus goes everything that waits is answered`() throws {
        var board = board()
        let call = try #require(calls(board.handle(.present(presentation(1, identifier: "a")))).first)
        _ = board.handle(.present(presentation(2, identifier: "a")))
        #expect(
            board.handle(.disconnected(reason: "gone")) == [
                .answer(id(1), .failed(reason: "gone")), .answer(id(2), .failed(reason: "gone")),
            ])
        #expect(board.handle(.notified(ticket: call.ticket, serverID: 1)) == [])
    }

    @Test func `more than the limit is refused`() {
        var board = DesktopNotificationState()
        for number in 1...Int64(DesktopNotificationState.waitingLimit) {
            _ = board.handle(.present(presentation(number)))
        }
        guard case .answer(id(1000), .failed)? = board.handle(.present(presentation(1000))).first else {
            Issue.record("not refused")
            return
        }
    }
}
