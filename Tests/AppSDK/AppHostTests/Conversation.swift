import AgentProtocol

@testable import AppHost

/// A session with a clock of its own.
struct Conversation {
    var session = AppSession(app: "com.example.todo", run: "r1", place: "/run/agent.sock")
    var now = Duration.zero

    @discardableResult
    mutating func say(_ event: AppSession.Event) -> [AppSession.Directive] { session.handle(event, now: now) }

    @discardableResult
    mutating func hear(_ message: AgentMessage) -> [AppSession.Directive] { say(.received(message)) }

    /// A session that is connected, welcomed and launched.
    static func running(state: AppState = .active, respondent: Bool = true) -> Conversation {
        var conversation = Conversation()
        conversation.say(.started)
        conversation.say(.connected)
        conversation.hear(.welcome(.init(state: state, authorization: 2)))
        conversation.say(.launchBegan)
        conversation.say(.launchFinished)
        if respondent { conversation.say(.respondentChanged(exists: true)) }
        return conversation
    }

    /// Loses the connection and makes another; what is said after the welcome.
    mutating func reconnect() -> [AppSession.Directive] {
        say(.disconnected(reason: nil, jitter: 0))
        say(.connected)
        return hear(.welcome(.init(state: .active, authorization: 2)))
    }

    static func notification(_ id: Int64) -> DeliveredNotification {
        DeliveredNotification(
            id: id, identifier: "n\(id)", apnsID: nil, topic: "com.example.todo", date: 0, payload: "{}")
    }

    static func deliver(_ id: Int64, _ kind: DeliveryKind = .foreground) -> AgentMessage {
        .deliver(notification(id), kind: kind)
    }

    static func respond(_ id: Int64, action: String = "later") -> AgentMessage {
        .respond(response: id, notification: notification(1), action: action, userText: nil)
    }

    static func response(_ id: Int64, action: String = "later") -> DeliveredResponse {
        DeliveredResponse(id: id, notification: notification(1), action: action, userText: nil)
    }
}
