import AgentWire
import ArgumentParser
import CommandCore
import Foundation

/// `aldaba notifications pending`: what waits for its time or place.
struct PendingCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pending", abstract: "What waits for its time or place: its next three times, and why then.")
    @Option(help: "Only those of one app.") var app: String?
    @Flag(help: "Print a JSON array.") var json = false
    @OptionGroup var agent: AgentOption

    func run() throws {
        guard case .pending(let waiting) = try agent.connect().ask(.pending(app: app)) else { throw unexpected() }
        if json { return print(try JSONText.line(waiting)) }
        if waiting.isEmpty { Terminal.write("Nothing waits.") }
        for item in waiting {
            let text = [item.content.title, item.content.subtitle, item.content.body].filter { !$0.isEmpty }
            print(TerminalText.line("\(item.app)  \(item.identifier)  \(text.joined(separator: " - "))"))
            let times = item.times.map {
                Date(timeIntervalSince1970: Double($0) / 1000).formatted(
                    Date.ISO8601FormatStyle(includingFractionalSeconds: $0 % 1000 != 0))
            }
            print(TerminalText.line("    \(times.isEmpty ? "" : times.joined(separator: ", ") + ": ")\(item.reason)"))
        }
    }
}

/// `aldaba notifications cancel`.
struct CancelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Take back what waits for its time or place.")
    @Argument(help: "The identifiers, as `pending` shows them.") var identifiers: [String]
    @Option(help: "The app of which they are (default: what `aldaba notify` made).")
    var app = NotificationsCommand.terminal
    @OptionGroup var agent: AgentOption

    func run() throws { _ = try agent.connect().ask(.cancel(app: app, identifiers: identifiers)) }
}
