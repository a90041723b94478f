import AgentProtocol
import Testing

@testable import AppHost

struct AppSessionCenterTests {
    private func ask(_ request: Int64, _ command: NotificationCenterCommand = .pending, size: Int = 100)
        -> AppSession.Event
    {
        .centerRequested(request: request, command, size: size)
    }

    @Test func `a command goes to the agent, and its answer to who asked, once`() {
        var talk = Conversation.running()
        #expect(talk.say(ask(1, .setBadge(3))) == [.send(.center(request: 1, .setBadge(3)))])
        #expect(talk.hear(.centerAnswered(request: 1, .done)) == [.answerCenter(request: 1, .done)])
        #expect(talk.hear(.centerAnswered(request: 1, .done)) == [])
        #expect(talk.hear(.centerAnswered(request: 9, .done)) == [])
    }

    @Test func `commands wait for the welcome, and go again in their order until they are answered`() {
        var talk = Conversation()
        talk.say(.started)
        #expect(talk.say(ask(1)) == [])
        #expect(talk.say(ask(2, .removePending(nil))) == [])
        talk.say(.connected)
        let both: [AppSession.Directive] = [
            .send(.center(request: 1, .pending)), .send(.center(request: 2, .removePending(nil))),
        ]
        #expect(talk.hear(.welcome(.init(state: .active, authorization: 2))) == both)
        #expect(talk.reconnect() == both)
        let refusal = CenterAnswer.failed(code: 1, message: "no")
        #expect(talk.hear(.centerAnswered(request: 1, refusal)) == [.answerCenter(request: 1, refusal)])
        #expect(talk.reconnect() == [both[1]])
    }

    @Test func `commands that wait have two mebibytes together`() {
        var talk = Conversation()
        #expect(talk.say(ask(1, size: 1 << 20)) == [])
        #expect(talk.say(ask(2, size: 1 << 20)) == [])
        #expect(talk.say(ask(3, size: 1)) == [.failRequest(request: 3)])
        talk.say(.started)
        talk.say(.connected)
        talk.hear(.welcome(.init(state: .active, authorization: 2)))
        talk.hear(.centerAnswered(request: 1, .done))
        #expect(talk.say(ask(4, size: 1)) == [.send(.center(request: 4, .pending))])
    }

    @Test func `commands fail without an app id, and when another process is the app`() {
        var nameless = Conversation(session: AppSession(app: nil, run: "r1", place: "/x"))
        #expect(nameless.say(ask(1)) == [.failRequest(request: 1)])
        var talk = Conversation.running()
        talk.say(ask(2))
        #expect(
            talk.hear(.refused(version: 1, code: "superseded", message: "x")).contains(.failRequest(request: 2)))
        #expect(talk.say(ask(3)) == [.failRequest(request: 3)])
    }
}

struct AppSessionStateTests {
    @Test func `the agent directs the state, and is answered also when it changes nothing`() {
        var talk = Conversation.running()
        #expect(talk.hear(.enter(.background)) == [.enter(.background), .send(.stateChanged(.background))])
        #expect(talk.hear(.enter(.background)) == [.send(.stateChanged(.background))])
        #expect(talk.reconnect() == [.send(.stateChanged(.background)), .send(.ready)])
    }

    @Test func `the app says itself where it stands, and repeats nothing`() {
        var talk = Conversation.running()
        #expect(
            talk.say(.stateDeclared(.inactive)) == [.enter(.inactive), .send(.stateChanged(.inactive))])
        #expect(talk.say(.stateDeclared(.inactive)) == [])
    }

    @Test func `a state that is directed during the launch is entered when it has finished`() {
        var talk = Conversation()
        talk.say(.started)
        talk.say(.connected)
        talk.hear(.welcome(.init(state: .background, authorization: 2)))
        #expect(talk.say(.launchBegan) == [.launch(state: .background, notification: nil)])
        #expect(talk.hear(.enter(.active)) == [])
        #expect(
            talk.say(.launchFinished) == [.enter(.active), .send(.stateChanged(.active)), .send(.ready)])
    }

    @Test func `the wish for settings waits for somebody who takes it, and brings the app to the front`() {
        var talk = Conversation.running(state: .background, respondent: false)
        #expect(talk.hear(.openSettings(nil)) == [])
        #expect(talk.hear(.openSettings(Conversation.notification(1))) == [])
        #expect(
            talk.say(.respondentChanged(exists: true)) == [
                .enter(.inactive), .openSettings(Conversation.notification(1)), .enter(.active),
                .send(.stateChanged(.active)),
            ])
        #expect(talk.hear(.openSettings(nil)) == [.openSettings(nil)])
    }

    @Test func `a tap that nobody takes brings the app to the front once, and is offered to the application`() {
        var talk = Conversation.running(state: .background, respondent: false)
        let tap = NotificationAction.open
        let response = Conversation.response(1, action: tap)
        #expect(
            talk.hear(Conversation.respond(1, action: tap)) == [
                .enter(.inactive), .offerOpening(response), .enter(.active), .send(.stateChanged(.active)),
            ])
        #expect(talk.hear(Conversation.respond(1, action: tap)) == [])
        #expect(talk.say(.openingAnswered(id: 1, isTaken: false)) == [])
        #expect(talk.say(.respondentChanged(exists: true)) == [.handResponse(response)])

        var other = Conversation.running(respondent: false)
        #expect(other.hear(Conversation.respond(1, action: tap)) == [.offerOpening(response)])
        #expect(other.say(.openingAnswered(id: 1, isTaken: true)) == [.send(.responseHandled(response: 1))])
        #expect(other.say(.respondentChanged(exists: true)) == [])
    }

    @Test func `a button that its notification brought and that opens the app brings it to the front`() {
        var talk = Conversation.running(state: .background)
        var content = NotificationContent()
        content.actions = [NotificationActionDescription(identifier: "view", title: "View", options: 4)]
        var notification = Conversation.notification(1)
        notification.content = content
        let directives = talk.hear(
            .respond(response: 3, notification: notification, action: "view", userText: nil))
        #expect(directives.first == .enter(.inactive) && directives.dropFirst(2).first == .enter(.active))
    }

    @Test(arguments: [
        (DeliveryKind.foreground, Int64(1), true), (.foreground, -1, false), (.foregroundAndBackground, 1, false),
    ])
    func `a remote notification that nobody presents goes to the application's handler, unless it was there`(
        kind: DeliveryKind, id: Int64, goes: Bool
    ) {
        var talk = Conversation.running()
        talk.hear(Conversation.deliver(id, kind))
        if kind == .foregroundAndBackground { talk.say(.backgroundHandled(id: id, .newData)) }
        let answer = AppSession.Directive.send(.handled(notification: id, outcome: .notPresented))
        let directives = talk.say(.presentationUnasked(id: id))
        guard goes else { return #expect(directives == [answer]) }
        #expect(directives == [.handBackground(Conversation.notification(id))])
        #expect(talk.say(.presentationAnswered(id: id, options: 1)) == [])
        #expect(talk.say(.backgroundHandled(id: id, .newData)) == [answer])
    }
}
