import AgentWire
import DeviceStore

extension AgentStep {
    /// What is handed to an app, in order and by steps.
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
