import Foundation
import Platform
import RelayProtocol

/// The agent's own service `notify`: shows a notification on this device for another device of the person, and returns the
/// answer.
///
/// The notification is a terminal's: `aldaba notify` shows it, so its settings are those of terminals.
package struct NotifyService: Sendable {
    /// The path of the program, and of the agent's socket.
    let program: String, socket: String
    /// The environment of the program.
    let environment: [String: String]

    /// The greatest number of seconds for an answer.
    package static let longestWait: Int64 = 540
    /// The greatest number of bytes of one text, and of buttons and replies together.
    private static let textLimit = 4000, actionLimit = 8

    /// Shows the notification of a message with `title`, `body`, `subtitle`, `level`, `buttons` and `replies` (`ID=LABEL`),
    /// and `seconds` where the caller waits for the answer.
    func show(_ message: RelayMap, unlessEnded wish: WakeUp) throws -> RelayOutcome {
        let arguments: [String]
        switch Self.arguments(of: message) {
        case .success(let found): arguments = found
        case .failure(let fault): return RelayOutcome(.failed, detail: fault.text)
        }
        guard case .integer(let seconds)? = message["seconds"] else {
            return try outcome(of: run(["notify"], arguments, within: 15, unlessEnded: wish))
        }
        guard (1...Self.longestWait).contains(seconds) else {
            return RelayOutcome(.failed, detail: "`seconds` is 1 to \(Self.longestWait)")
        }
        let status = try run(["agent", "status"], [], within: 15, unlessEnded: wish)
        if case .wrote(let text) = status, String(decoding: text, as: UTF8.self).contains("\"hasScreen\":false") {
            return RelayOutcome(.failed, detail: "nobody could answer: the agent there has no screen")
        }
        return try outcome(
            of: run(["notify", "--timeout", String(seconds)], arguments, within: seconds + 15, unlessEnded: wish))
    }

    private func run(
        _ command: [String], _ arguments: [String], within seconds: Int64, unlessEnded wish: WakeUp
    ) throws -> ChildProgram.Run {
        try ChildProgram(
            path: program, arguments: command + ["--json", "--agent-socket", socket] + arguments,
            environment: environment
        ).runToEnd(outputLimit: 16_384, timeout: .seconds(seconds), unlessEnded: wish)
    }

    /// The answer that the program printed.
    private func outcome(of run: ChildProgram.Run) -> RelayOutcome {
        switch run {
        case .wrote(let output):
            guard let answer = try? JSONDecoder().decode([String: String].self, from: output) else {
                return RelayOutcome(.failed, detail: "the answer cannot be read")
            }
            return RelayOutcome(.success, message: answer.mapValues { RelayValue.string($0) })
        case .failed(.exited(7), _): return RelayOutcome(.success, message: ["timedOut": .bool(true)])
        case .failed(let end, _): return RelayOutcome(.failed, detail: "the notification is not shown: \(end)")
        case .wroteTooMuch, .tookTooLong: return RelayOutcome(.failed, detail: "the agent there does not answer")
        case .unwanted: return RelayOutcome(.cancelled, detail: "nobody waits for the answer any more")
        }
    }

    private struct Fault: Error { var text: String }

    private static func arguments(of message: RelayMap) -> Result<[String], Fault> {
        var arguments: [String] = []
        for name in ["subtitle", "level"] {
            if case .string(let text)? = message[name], !text.isEmpty { arguments += ["--\(name)=\(text)"] }
        }
        var actions = 0
        for (name, option) in [("buttons", "--button"), ("replies", "--reply")] {
            guard case .array(let items)? = message[name] else { continue }
            for case .string(let text) in items {
                actions += 1
                arguments += ["\(option)=\(text)"]
            }
        }
        guard actions <= actionLimit else { return .failure(Fault(text: "at most \(actionLimit) actions are shown")) }
        guard case .string(let title)? = message["title"], !title.isEmpty else {
            return .failure(Fault(text: "`title` is missing"))
        }
        arguments += ["--", title]
        if case .string(let body)? = message["body"] { arguments.append(body) }
        // A null ends an argument, and would hide what follows.
        guard arguments.allSatisfy({ $0.utf8.count <= textLimit && !$0.utf8.contains(0) }) else {
            return .failure(Fault(text: "a text has at most \(textLimit) bytes, and no null character"))
        }
        return .success(arguments)
    }
}
