import AgentProtocol
import AldabaConfiguration
import ArgumentParser
import RelayAgent
import RelayProtocol

extension NotifyCommand {
    /// Shows the notification on another device of the account.
    ///
    /// - Parameter seconds: The time to wait for the answer; `nil` for not waiting.
    /// - Returns: The answer; `nil` where the command does not wait.
    static func show(
        _ content: NotificationContent, on device: String, within seconds: Double?, agent: AgentOption
    ) throws -> (action: String, text: String?)? {
        guard content.attachments.isEmpty else {
            throw CommandError(.usage, "--on shows no picture: the file is on this machine")
        }
        var message: RelayMap = [
            "title": .string(content.title), "body": .string(content.body), "subtitle": .string(content.subtitle),
            "level": .string(content.interruptionLevel.rawValue),
        ]
        func texts(_ actions: [NotificationActionDescription]) -> RelayValue {
            .array(actions.map { .string("\($0.identifier)=\($0.title)") })
        }
        message["buttons"] = texts(content.actions.filter { $0.textInput == nil })
        message["replies"] = texts(content.actions.filter { $0.textInput != nil })
        let most = Double(NotifyService.longestWait)
        if let seconds {
            guard (1...most).contains(seconds) else {
                throw CommandError(.usage, "--timeout with --on is 1 to \(NotifyService.longestWait) seconds")
            }
            message["seconds"] = .integer(Int64(seconds))
        }
        let conversation = try RelayConversation(agent)
        let target = try conversation.target(named: device)
        let answer =
            try conversation.command(
                .call(app: RelayHost.ownApp, service: "notify", message: message), on: target.id,
                within: Int(seconds ?? 0) + 30
            ).message ?? [:]
        guard let seconds else { return nil }
        guard case .string(let action)? = answer["action"] else {
            throw CommandError(.timedOut, "nobody has answered on \(target.name) within \(Int(seconds)) seconds")
        }
        if case .string(let text)? = answer["text"] { return (action, text) }
        return (action, nil)
    }
}
