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
        let agent = try agent.connect()
        var all: [PendingNotification] = []
        var last: PendingTurn?
        var isEmpty = true
        repeat {
            guard case .pending(let page, let next) = try agent.ask(.pending(app: app, after: last)) else {
                throw unexpected()
            }
            if json { all += page } else { page.forEach(Self.show) }
            isEmpty = isEmpty && page.isEmpty
            last = next
        } while last != nil
        if json { return print(try JSONText.line(all)) }
        if isEmpty { Terminal.write("Nothing waits.") }
    }

    private static func show(_ item: PendingNotification) {
        let text = [item.content.title, item.content.subtitle, item.content.body].filter { !$0.isEmpty }
        print(TerminalText.line("\(item.app)  \(item.identifier)  \(text.joined(separator: " - "))"))
        let times = item.times.map {
            Date(timeIntervalSince1970: Double($0) / 1000).formatted(
                Date.ISO8601FormatStyle(includingFractionalSeconds: $0 % 1000 != 0))
        }
        print(TerminalText.line("    \(times.isEmpty ? "" : times.joined(separator: ", ") + ": ")\(item.reason)"))
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
