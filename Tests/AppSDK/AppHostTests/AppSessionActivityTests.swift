import AgentProtocol
import Testing

@testable import AppHost

/// Live Activities as the session of an app has them.
struct AppSessionActivityTests {
    private static let activity = LiveActivity(
        id: String(repeating: "a", count: 32), attributesType: "Delivery", attributes: "{}",
        content: LiveActivityContent(state: "{}"))
    private let start = ActivityCommand.start(request: 5, activity, .token)

    @Test func `activities are asked for when the app observes them, and on every connection after the requests`() {
        var talk = Conversation.running()
        #expect(talk.say(.activitiesObserved) == [.send(.activity(.observe))])
        #expect(talk.say(.activitiesObserved) == [.send(.activity(.observe))], "to set right what a refusal left")
        #expect(talk.say(.activityAsked(request: 5, start, size: 60)) == [.send(.activity(start))])
        #expect(talk.reconnect().prefix(2) == [.send(.activity(start)), .send(.activity(.observe))])
    }

    @Test func `an app that does not observe activities is not told of them on the next connection`() {
        var talk = Conversation.running()
        #expect(!talk.reconnect().contains(.send(.activity(.observe))))
    }

    @Test func `activities that are observed without a connection are asked for after the welcome`() {
        var talk = Conversation()
        talk.say(.started)
        #expect(talk.say(.activitiesObserved) == [])
        talk.say(.connected)
        #expect(
            talk.hear(.welcome(.init(state: .active, authorization: 2))) == [.send(.activity(.observe))],
            "an app that has not launched has activities too")
    }

    @Test(arguments: [
        ActivityEvent.all([activity], startToken: "ab"), .changed(activity), .startToken("cd"),
    ])
    func `events reach the app`(event: ActivityEvent) {
        var talk = Conversation.running()
        #expect(talk.hear(.activity(event)) == [.tellActivities(event)])
    }

    @Test func `a request is asked again until it is answered, and answered once`() {
        var talk = Conversation.running()
        talk.say(.activityAsked(request: 5, start, size: 60))
        #expect(talk.reconnect().first == .send(.activity(start)))
        #expect(talk.hear(.activity(.accepted(request: 5))) == [.answerActivity(request: 5, .accepted)])
        #expect(talk.hear(.activity(.accepted(request: 5))) == [])
        #expect(talk.hear(.activity(.refused(request: 5, code: "a", message: "b"))) == [])
        #expect(talk.reconnect().first == .send(.stateChanged(.active)))
    }

    @Test func `a refusal has its code and its sentence`() {
        var talk = Conversation.running()
        talk.say(.activityAsked(request: 5, start, size: 60))
        #expect(
            talk.hear(.activity(.refused(request: 5, code: ActivityFault.denied, message: "no"))) == [
                .answerActivity(request: 5, .refused(code: ActivityFault.denied, message: "no"))
            ])
    }

    @Test func `an app without an id cannot ask`() {
        var session = AppSession(app: nil, run: "r1", place: "/run/agent.sock")
        #expect(
            session.handle(.activityAsked(request: 5, start, size: 60), now: .zero) == [.failRequest(request: 5)])
    }
}
