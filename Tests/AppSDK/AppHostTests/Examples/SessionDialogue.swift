import AgentProtocol
import AppHost

/// What an app that has launched is to do about a notification that the agent delivers.
func directives(delivering notification: DeliveredNotification) -> [AppSession.Directive] {
    var session = AppSession(app: "com.example.todo", run: "first", place: "/run/user/1000/aldaba/agent.sock")
    let welcome = AgentMessage.Welcome(state: .active, authorization: 2)
    for event: AppSession.Event in [.started, .connected, .received(.welcome(welcome)), .launchBegan, .launchFinished] {
        _ = session.handle(event, now: .zero)
    }
    return session.handle(.received(.deliver(notification, kind: .foreground)), now: .seconds(1))
}
