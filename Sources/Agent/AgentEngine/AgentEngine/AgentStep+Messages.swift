import AgentProtocol

extension AgentStep {
    /// Messages to an app in their order, split where one belongs to another step than the one before it.
    static func grouped(_ messages: [AgentMessage]) -> [(step: AgentStep, messages: [AgentMessage])] {
        var groups: [(step: AgentStep, messages: [AgentMessage])] = []
        for message in messages {
            let step = if case .respond = message { AgentStep.respond } else { AgentStep.handOver }
            if groups.last?.step == step {
                groups[groups.count - 1].messages.append(message)
            } else {
                groups.append((step, [message]))
            }
        }
        return groups
    }
}
