import AgentProtocol
import Testing

@testable import AppHost

struct AppSessionDeliveryTests {
    @Test func `a notification that comes again is dropped while it is handled, answered again when it was`() {
        var talk = Conversation.running()
        #expect(talk.hear(Conversation.deliver(1)) == [.askPresentation(Conversation.notification(1))])
        #expect(talk.hear(Conversation.deliver(1)) == [])
        let answer = AppSession.Directive.send(.handled(notification: 1, outcome: .presented(options: 26)))
        #expect(talk.say(.presentationAnswered(id: 1, options: 26)) == [answer])
        #expect(talk.hear(Conversation.deliver(1)) == [answer])
        #expect(talk.reconnect().contains(answer))
        #expect(talk.hear(Conversation.deliver(1)) == [answer])
    }

    @Test func `an id is forgotten when it is confirmed, and not before`() {
        var talk = Conversation.running()
        for id in Int64(1)...3 {
            talk.hear(Conversation.deliver(id))
            talk.say(.presentationAnswered(id: id, options: 0))
        }
        talk.hear(.handledConfirmed(notifications: [2, 77]))
        #expect(
            talk.reconnect().prefix(2) == [
                .send(.handled(notification: 1, outcome: .notPresented)),
                .send(.handled(notification: 3, outcome: .notPresented)),
            ])
        #expect(talk.hear(Conversation.deliver(2)) == [.askPresentation(Conversation.notification(2))])
    }

    @Test func `a deletion is told until somebody takes it, and confirmed again when it is told again`() {
        var talk = Conversation.running()
        let told = AgentMessage.messagesDeleted(deletion: 7, count: 100, since: 5)
        let tell = AppSession.Directive.tellDeletion(MessageDeletion(id: 7, count: 100, since: 5))
        #expect(talk.hear(told) == [tell])
        #expect(talk.hear(told) == [tell], "nobody took it")
        let confirmation = AppSession.Directive.send(.deletionTaken(deletion: 7))
        #expect(talk.say(.deletionTaken(id: 7)) == [confirmation])
        _ = talk.reconnect()
        #expect(talk.hear(told) == [confirmation])
        let later = AgentMessage.messagesDeleted(deletion: 8, count: 200, since: 5)
        #expect(talk.hear(later) == [.tellDeletion(MessageDeletion(id: 8, count: 200, since: 5))])
    }

    @Test func `answers are repeated in the order in which they were given, before the app says that it is ready`() {
        var talk = Conversation.running()
        for id in Int64(1)...5 { talk.hear(Conversation.deliver(id, .background)) }
        talk.hear(Conversation.respond(9))
        for id in [Int64(4), 2, 5] { talk.say(.backgroundHandled(id: id, .newData)) }
        talk.say(.responseHandled(id: 9))
        #expect(
            talk.reconnect() == [4, 2, 5].map { .send(.handled(notification: $0, outcome: .background(.newData))) }
                + [.send(.responseHandled(response: 9)), .send(.stateChanged(.active)), .send(.ready)])
    }

    @Test func `notifications begin in their order, at most 64 at one time, and 256 more fill the session`() {
        var talk = Conversation.running()
        var begun: [Int64] = []
        func note(_ directives: [AppSession.Directive]) {
            for case .askPresentation(let notification) in directives { begun.append(notification.id) }
        }
        for id in Int64(1)...400 {
            #expect(talk.session.isFull == (id > 64 + 256))
            note(talk.hear(Conversation.deliver(id)))
        }
        #expect(begun == Array(1...64))
        for id in Int64(1)...400 { note(talk.say(.presentationAnswered(id: id, options: 1))) }
        #expect(begun == Array(1...400))
        #expect(!talk.session.isFull)
    }

    @Test func `a notification for both handlers is asked about after its background handler, and answered once`() {
        var talk = Conversation.running()
        let notification = Conversation.notification(1)
        #expect(talk.hear(Conversation.deliver(1, .foregroundAndBackground)) == [.handBackground(notification)])
        #expect(talk.say(.presentationAnswered(id: 1, options: 1)) == [])
        #expect(talk.say(.backgroundHandled(id: 1, .newData)) == [.askPresentation(notification)])
        #expect(talk.say(.backgroundHandled(id: 1, .failed)) == [])
        #expect(
            talk.say(.presentationAnswered(id: 1, options: 16))
                == [.send(.handled(notification: 1, outcome: .presented(options: 16)))])
        #expect(talk.say(.presentationAnswered(id: 1, options: 0)) == [])
    }

    @Test func `a handler that does not answer within 30 seconds is answered for`() {
        var talk = Conversation.running()
        talk.hear(Conversation.deliver(1, .background))
        talk.hear(Conversation.deliver(2, .foregroundAndBackground))
        talk.hear(Conversation.deliver(3))
        talk.hear(Conversation.respond(4))
        #expect(talk.session.nextDeadline == .seconds(30))
        talk.now = .seconds(29)
        #expect(talk.say(.timePassed) == [])
        talk.now = .seconds(30)
        #expect(
            talk.say(.timePassed) == [
                .send(.handled(notification: 1, outcome: .background(.failed))),
                .askPresentation(Conversation.notification(2)),
                .send(.handled(notification: 3, outcome: .notPresented)),
                .send(.responseHandled(response: 4)),
            ])
        #expect(talk.session.nextDeadline == .seconds(60))
        #expect(talk.say(.backgroundHandled(id: 1, .newData)) == [])
    }

    @Test func `nothing is handed over before the launch has finished`() {
        var talk = Conversation()
        talk.say(.started)
        talk.say(.connected)
        talk.say(.launchBegan)
        talk.say(.respondentChanged(exists: true))
        talk.hear(.welcome(.init(state: .active, authorization: 2)))
        #expect(talk.hear(Conversation.deliver(1)) == [])
        #expect(talk.hear(Conversation.respond(2)) == [])
        #expect(
            talk.say(.launchFinished) == [
                .enter(.active), .send(.stateChanged(.active)), .send(.ready),
                .askPresentation(Conversation.notification(1)), .handResponse(Conversation.response(2)),
            ])
    }

    @Test func `responses wait until somebody takes them, and reach them once`() {
        var talk = Conversation.running(respondent: false)
        #expect(talk.hear(Conversation.respond(1)) == [])
        #expect(talk.hear(Conversation.respond(1)) == [])
        #expect(talk.say(.respondentChanged(exists: true)) == [.handResponse(Conversation.response(1))])
        #expect(talk.hear(Conversation.respond(1)) == [])
        #expect(talk.say(.responseHandled(id: 1)) == [.send(.responseHandled(response: 1))])
        #expect(talk.hear(Conversation.respond(1)) == [.send(.responseHandled(response: 1))])
        talk.hear(.responsesConfirmed(responses: [1]))
        #expect(!talk.reconnect().contains(.send(.responseHandled(response: 1))))
    }

    @Test func `of responses that nobody takes the oldest goes first`() {
        var talk = Conversation.running(respondent: false)
        for id in Int64(1)...256 { #expect(talk.hear(Conversation.respond(id)) == []) }
        let dropped = talk.hear(Conversation.respond(257))
        #expect(dropped.count == 1)
        if case .report(let text)? = dropped.first { #expect(text.contains("256")) } else { Issue.record("\(dropped)") }
        let begun = talk.say(.respondentChanged(exists: true))
        #expect(begun.first == .handResponse(Conversation.response(2)))
    }

    @Test func `opening a notification brings an app from the background to the front, an action does not`() {
        var talk = Conversation.running(state: .background)
        #expect(talk.hear(Conversation.respond(1)) == [.handResponse(Conversation.response(1))])
        let tap = NotificationAction.open
        #expect(
            talk.hear(Conversation.respond(2, action: tap)) == [
                .enter(.inactive), .handResponse(Conversation.response(2, action: tap)), .enter(.active),
                .send(.stateChanged(.active)),
            ])
    }

    @Test func `an agent that confirms nothing is called again before the memory is full`() {
        var talk = Conversation.running()
        var left = false
        for id in Int64(1)...10_001 {
            talk.hear(Conversation.deliver(id))
            left = talk.say(.presentationAnswered(id: id, options: 0)).contains(.disconnect)
            #expect(left == (id == 10_001))
        }
        #expect(talk.reconnect().count == 10_001 + 2)
    }
}
