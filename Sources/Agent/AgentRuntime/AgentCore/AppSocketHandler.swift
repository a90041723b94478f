import AgentEngine
import AgentProtocol

/// Passes the events of the apps' connections to the agent's event loop.
final class AppSocketHandler: AppSocketDelegate {
    private let agent: Agent

    init(agent: Agent) { self.agent = agent }

    func received(_ messages: [AppMessage], from connection: AppConnection) {
        agent.enter { $0.received(messages, from: connection) }
    }

    func closed(_ connection: AppConnection) { agent.enter { $0.closed(connection) } }
}
