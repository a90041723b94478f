import AgentProtocol
import Testing

@testable import AppHost

/// The direct channel as the session of an app has it.
struct AppSessionChannelTests {
    private func message(_ id: Int64) -> AgentMessage { .channel(.message(Conversation.notification(id))) }

    @Test func `the channel is opened when it is wanted, and on every connection after the app is ready`() {
        var talk = Conversation.running()
        #expect(talk.say(.channelWanted(true)) == [.send(.channel(.open))])
        #expect(talk.say(.channelWanted(true)) == [])
        #expect(talk.hear(.channel(.state(isConnected: true))) == [.tellChannel(isConnected: true)])
        #expect(talk.say(.disconnected(reason: nil, jitter: 0)).first == .tellChannel(isConnected: false))
        #expect(talk.reconnect() == [.send(.stateChanged(.active)), .send(.ready), .send(.channel(.open))])
        #expect(talk.say(.channelWanted(false)) == [.send(.channel(.close))])
        #expect(talk.reconnect() == [.send(.stateChanged(.active)), .send(.ready)])
    }

    @Test func `a channel that is wanted before the launch is opened after it`() {
        var talk = Conversation()
        talk.say(.started)
        talk.say(.connected)
        talk.hear(.welcome(.init(state: .active, authorization: 2)))
        #expect(talk.say(.channelWanted(true)) == [])
        talk.say(.launchBegan)
        #expect(talk.say(.launchFinished).suffix(2) == [.send(.ready), .send(.channel(.open))])
    }

    @Test func `a data message reaches the app once, and its answer is repeated until it is confirmed`() {
        var talk = Conversation.running()
        talk.say(.channelWanted(true))
        #expect(talk.hear(message(1)) == [.handData(Conversation.notification(1))])
        #expect(talk.hear(message(1)) == [])
        #expect(talk.say(.dataHandled(id: 1)) == [.send(.channel(.taken(message: 1)))])
        #expect(talk.say(.dataHandled(id: 1)) == [])
        #expect(talk.reconnect().first == .send(.channel(.taken(message: 1))))
        #expect(talk.hear(message(1)) == [.send(.channel(.taken(message: 1)))])
        talk.hear(.channel(.takenConfirmed(messages: [1])))
        #expect(talk.reconnect().first == .send(.stateChanged(.active)))
    }

    @Test func `what comes after the app closed the channel waits until it opens it again`() {
        var talk = Conversation.running()
        talk.say(.channelWanted(true))
        talk.say(.channelWanted(false))
        #expect(talk.hear(message(1)) == [])
        #expect(
            talk.say(.channelWanted(true)) == [.send(.channel(.open)), .handData(Conversation.notification(1))])
    }

    @Test func `a request of the channel is asked again until it is answered`() {
        var talk = Conversation.running()
        let command = ChannelCommand.topic(request: 5, name: "news", joins: true)
        #expect(
            talk.say(.channelAsked(request: 5, command, size: 60)) == [.send(.channel(command))])
        #expect(talk.reconnect().first == .send(.channel(command)))
        #expect(
            talk.hear(.channel(.accepted(request: 5))) == [.answerChannel(request: 5, .accepted)])
        #expect(talk.hear(.channel(.refused(request: 5, code: "a", message: "b"))) == [])
    }

    @Test func `what became of a message is told until the app knows, and confirmed again when it is told again`() {
        var talk = Conversation.running()
        let told = AgentMessage.channel(.ended(upstream: 3, id: "m", code: nil))
        let tell = AppSession.Directive.tellEnd(UpstreamEnd(number: 3, id: "m", code: nil))
        #expect(talk.hear(told) == [tell])
        #expect(talk.hear(told) == [])
        _ = talk.reconnect()
        #expect(talk.hear(told) == [tell])
        let confirmation = AppSession.Directive.send(.channel(.endTaken(upstream: 3)))
        #expect(talk.say(.endTaken(number: 3)) == [confirmation])
        #expect(talk.hear(told) == [confirmation])
    }
}
