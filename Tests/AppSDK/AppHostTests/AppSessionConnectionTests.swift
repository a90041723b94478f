import AgentProtocol
import Testing

@testable import AppHost

struct AppSessionConnectionTests {
    @Test func `hello is the first word, and all others wait for the welcome`() {
        var talk = Conversation()
        #expect(talk.say(.started) == [.connect(after: .zero)])
        #expect(talk.say(.connected) == [.send(.hello(version: 1, app: "com.example.todo", secret: nil, run: "r1"))])
        #expect(talk.say(.registrationRequested(request: 1)) == [])
        #expect(talk.say(.authorizationRequested(request: 2, options: 7)) == [])
        #expect(
            talk.hear(.welcome(.init(state: .active, authorization: 0))) == [
                .send(.registerForRemoteNotifications(request: 1)),
                .send(.requestAuthorization(request: 2, options: 7)),
            ])
    }

    @Test func `requests are sent again on a new connection until they are answered, and answered once`() {
        var talk = Conversation.running()
        talk.say(.authorizationRequested(request: 1, options: 7))
        talk.say(.settingsRequested(request: 2))
        #expect(
            talk.hear(.authorizationAnswered(request: 1, granted: true))
                == [.answerAuthorization(request: 1, granted: true)])
        #expect(talk.reconnect().first == .send(.getSettings(request: 2)))
        #expect(talk.hear(.authorizationAnswered(request: 1, granted: true)) == [])
        talk.say(.authorizationRequested(request: 8, options: 7))
        #expect(
            talk.hear(.authorizationAnswered(request: 8, granted: false, reason: "nobody is there"))
                == [
                    .report("this app may not send notifications: nobody is there"),
                    .answerAuthorization(request: 8, granted: false),
                ])
        let settings = NotificationSettings(
            authorizationStatus: 2, alertSetting: 2, soundSetting: 2, badgeSetting: 2, notificationCenterSetting: 2,
            alertStyle: 1)
        #expect(talk.hear(.settings(request: 2, settings)) == [.answerSettings(request: 2, settings)])
        #expect(talk.reconnect() == [.send(.stateChanged(.active)), .send(.ready)])
    }

    @Test func `requests beyond a thousand that wait are failed at once`() {
        var talk = Conversation()
        for request in Int64(1)...1_000 { #expect(talk.say(.settingsRequested(request: request)) == []) }
        #expect(talk.say(.settingsRequested(request: 1_001)) == [.failRequest(request: 1_001)])
    }

    @Test func `the wish for a token is repeated, the token is told when it was asked for or has changed`() {
        var talk = Conversation.running()
        talk.say(.registrationRequested(request: 1))
        #expect(talk.hear(.registered(request: 1, token: "aa")) == [.announceToken("aa")])
        #expect(talk.reconnect().first == .send(.registerForRemoteNotifications(request: 1)))
        #expect(talk.hear(.registered(request: 1, token: "aa")) == [])
        #expect(talk.hear(.registered(request: nil, token: "bb")) == [.announceToken("bb")])
        talk.say(.registrationRequested(request: 2))
        #expect(talk.hear(.registered(request: 1, token: "bb")) == [])
        #expect(talk.hear(.registered(request: 2, token: "bb")) == [.announceToken("bb")])
        #expect(
            talk.say(.unregistrationRequested(request: 3)) == [.send(.unregisterForRemoteNotifications(request: 3))])
        #expect(talk.hear(.registered(request: nil, token: "cc")) == [])
        #expect(talk.reconnect().first == .send(.unregisterForRemoteNotifications(request: 3)))
    }

    @Test func `the app's own handler gets one answer for a request, also while Firebase asks for the same token`() {
        var wish = AppTokenWish()
        let failure = AppSession.Directive.announceRegistrationFailure(code: "unreachable", message: "No server.")
        let answers: [(asksFirst: Bool, directive: AppSession.Directive, isItsOwn: Bool)] = [
            (false, .announceToken("aa"), false), (false, failure, false), (true, failure, true),
            (false, failure, false),
            (true, .announceToken("bb"), true), (false, .announceToken("bb"), false), (false, failure, false),
            (false, .announceToken("cc"), true), (true, .announceToken("cc"), true),
        ]
        for (number, answer) in answers.enumerated() {
            if answer.asksFirst { wish.begin() }
            #expect(wish.isAnswered(by: answer.directive) == answer.isItsOwn, "answer \(number)")
        }
    }

    @Test func `the end of a token is asked for first, until it is answered`() {
        var talk = Conversation.running()
        let end = AppSession.Directive.send(.unregisterForRemoteNotifications(request: 2))
        let wish = AppSession.Directive.send(.registerForRemoteNotifications(request: 3))
        talk.say(.registrationRequested(request: 1))
        #expect(talk.say(.tokenEndAsked(request: 2)) == [end])
        talk.say(.registrationRequested(request: 3))
        #expect(Array(talk.reconnect().prefix(2)) == [end, wish])
        #expect(
            talk.hear(.channel(.accepted(request: 2))) == [.answerChannel(request: 2, .accepted)])
        #expect(talk.hear(.channel(.accepted(request: 2))) == [])
        #expect(talk.reconnect().first == wish)
    }

    @Test func `the end of a token that the server could not be asked for is repeated, one that it refused is not`() {
        for (code, isRepeated) in [(ChannelFault.offline, true), ("INVALID_SENDER", false)] {
            var talk = Conversation.running()
            talk.say(.tokenEndAsked(request: 1))
            #expect(
                talk.hear(.channel(.refused(request: 1, code: code, message: "No.")))
                    == [.answerChannel(request: 1, .refused(code: code, message: "No."))])
            #expect(talk.reconnect().contains(.send(.unregisterForRemoteNotifications(request: 1))) == isRepeated)
        }
    }

    @Test func `a failed registration is told once, and a later success is told too`() {
        var talk = Conversation.running()
        talk.say(.registrationRequested(request: 1))
        let failure = AgentMessage.registrationFailed(request: 1, code: "unreachable", message: "No server.")
        #expect(talk.hear(failure) == [.announceRegistrationFailure(code: "unreachable", message: "No server.")])
        #expect(talk.reconnect().first == .send(.registerForRemoteNotifications(request: 1)))
        #expect(talk.hear(failure) == [])
        #expect(talk.hear(.registered(request: 1, token: "aa")) == [.announceToken("aa")])
    }

    @Test(arguments: [
        (1, 0.0, 25), (1, 0.5, 37), (2, 0.0, 50), (3, 0.0, 100), (6, 0.0, 800), (7, 0.0, 1000), (50, 0.0, 1000),
    ])
    func `the pause before another try doubles from 50 ms to 2 s, at least the half of it`(
        failures: Int, jitter: Double, milliseconds: Int
    ) {
        var talk = Conversation()
        talk.say(.started)
        for _ in 1..<failures { talk.say(.disconnected(reason: nil, jitter: 0)) }
        let pauses = talk.say(.disconnected(reason: nil, jitter: jitter)).compactMap { directive -> Int? in
            guard case .connect(let after) = directive else { return nil }
            return Int(after / .milliseconds(1))
        }
        #expect(pauses == [milliseconds])
    }

    @Test func `a refused app says why once, and asks again every two seconds`() throws {
        var talk = Conversation()
        talk.say(.started)
        for round in 0..<3 {
            talk.say(.connected)
            let directives = talk.hear(.refused(version: 1, code: "unknownApp", message: "Install it."))
            let report = AppSession.Directive.report("the agent refused this app (unknownApp): Install it.")
            #expect(directives == (round == 0 ? [report, .disconnect] : [.disconnect]))
            #expect(talk.say(.disconnected(reason: nil, jitter: 0.3)).last == .connect(after: .seconds(2)))
        }
    }

    @Test func `a process whose place another one took says so, fails what waits, and never connects again`() {
        var talk = Conversation.running()
        talk.say(.settingsRequested(request: 7))
        talk.say(.registrationRequested(request: 8))
        let directives = talk.hear(.refused(version: 1, code: "superseded", message: "process 9 is the app now"))
        #expect(directives.contains(.disconnect) && directives.contains(.failRequest(request: 7)))
        #expect(
            directives.contains(
                .announceRegistrationFailure(code: "superseded", message: "process 9 is the app now")))
        #expect(directives.filter { if case .report = $0 { true } else { false } }.count == 1)
        #expect(talk.say(.disconnected(reason: nil, jitter: 0)) == [])
        #expect(talk.say(.authorizationRequested(request: 10, options: 1)) == [.failRequest(request: 10)])
    }

    @Test(arguments: [
        AgentMessage.welcome(.init(version: 2, state: .active, authorization: 2)), .handledConfirmed(notifications: []),
        .unknown(type: "song"),
    ])
    func `an agent that cannot be understood is left, with a word to the person`(message: AgentMessage) {
        var talk = Conversation()
        talk.say(.started)
        talk.say(.connected)
        let directives = talk.hear(message)
        #expect(directives.count == 2 && directives.last == .disconnect, "\(directives)")
        #expect(talk.hear(Conversation.deliver(1)) == [])
    }

    @Test func `a launch waits a second for the welcome, then goes on without it`() {
        var talk = Conversation()
        talk.say(.started)
        #expect(talk.say(.launchBegan) == [])
        #expect(talk.session.nextDeadline == .seconds(1))
        talk.now = .seconds(1)
        #expect(talk.say(.timePassed) == [.launch(state: .active, notification: nil)])
        #expect(talk.say(.launchFinished) == [.enter(.active)])
        talk.say(.connected)
        let late = AgentMessage.Welcome(
            state: .background, authorization: 2, launchNotification: Conversation.notification(1))
        #expect(talk.hear(.welcome(late)) == [.send(.stateChanged(.active)), .send(.ready)])
    }

    @Test(arguments: [true, false])
    func `a launch is told its state and the notification that caused it`(isWelcomedFirst: Bool) {
        var talk = Conversation()
        talk.say(.started)
        talk.say(.connected)
        let notification = Conversation.notification(1)
        let welcome = AgentMessage.welcome(
            .init(state: .background, authorization: 2, launchNotification: notification))
        let directives =
            isWelcomedFirst
            ? talk.hear(welcome) + talk.say(.launchBegan) : talk.say(.launchBegan) + talk.hear(welcome)
        #expect(directives == [.launch(state: .background, notification: notification)])
        #expect(
            talk.say(.launchFinished) == [
                .enter(.background), .send(.stateChanged(.background)), .send(.ready),
            ])
        #expect(talk.say(.launchFinished) == [])
    }

    @Test func `an app without an id launches, says what is missing, and has every request failed`() {
        var talk = Conversation(session: AppSession(app: nil, run: "r1", place: "/x"))
        let started = talk.say(.started)
        guard case .report(let text) = started.first else { return #expect(Bool(false), "\(started)") }
        #expect(text.contains("ALDABA_APP_ID") && started.count == 1)
        #expect(talk.say(.launchBegan) == [.launch(state: .active, notification: nil)])
        #expect(talk.say(.authorizationRequested(request: 1, options: 1)) == [.failRequest(request: 1)])
        let registration = talk.say(.registrationRequested(request: 2))
        guard case .announceRegistrationFailure(code: "noAppID", _) = registration.first else {
            return #expect(Bool(false), "\(registration)")
        }
    }

    @Test func `an absent agent is mentioned once`() {
        var talk = Conversation()
        talk.say(.started)
        let reports = (0..<20).flatMap { _ in talk.say(.disconnected(reason: nil, jitter: 0)) }.filter {
            if case .report = $0 { true } else { false }
        }
        #expect(reports.count == 1)
    }
}
