import AgentEngine
import AgentProtocol
import AldabaConfiguration
import ArgumentParser
import Foundation
import PushCore
import Scheduling

/// `aldaba notifications pending`: what waits for its time or place.
struct PendingCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pending", abstract: "List scheduled notifications with their next three times and the reason.")
    @Option(help: "Only those of one app.") var app: BundleID?
    @Flag(help: "Print a JSON array.") var json = false
    @OptionGroup var agent: AgentOption

    func run() throws {
        let agent = try agent.connect()
        if json { return print(try JSONLine.of(try agent.pending(app: app))) }
        let all = try agent.pending(app: app) { $0.show() }
        if all.isEmpty { Terminal.write("Nothing waits.") }
    }

}

extension AgentClient {
    /// The pending requests, of one app or of all, in the order in which they are due.
    ///
    /// - Parameter tell: Called with each as it arrives.
    func pending(app: BundleID?, tell: (PendingNotification) -> Void = { _ in }) throws -> [PendingNotification] {
        var all: [PendingNotification] = []
        var last: PendingOrder?
        repeat {
            guard case .pending(let page, let next) = try ask(.pending(app: app, after: last)) else {
                throw unexpected()
            }
            page.forEach(tell)
            all += page
            last = next
        } while last != nil
        return all
    }
}

extension PendingNotification {
    /// Prints it in two lines: what it is, and when it comes next and why.
    func show() {
        let text = [content.title, content.subtitle, content.body].filter { !$0.isEmpty }
        print(TerminalText.line("\(app)  \(identifier)  \(text.joined(separator: " - "))"))
        let times = zip(times, offsets).map { Timestamp(rawValue: $0).text(secondsFromGMT: $1) }
        print(TerminalText.line("    \(times.isEmpty ? "" : times.joined(separator: ", ") + ": ")\(reason)"))
    }
}

/// `aldaba notifications cancel`.
struct CancelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Cancel scheduled notifications.")
    @Argument(help: "The identifiers, as `pending` shows them.") var identifiers: [String] = []
    @Flag(help: "All that the app has.") var all = false
    @Option(help: "The app of which they are.")
    var app = NotificationsCommand.terminal
    @OptionGroup var agent: AgentOption

    func run() throws {
        guard all == identifiers.isEmpty else {
            throw CommandError(.usage, "give identifiers, as `aldaba notifications pending` shows them, or --all")
        }
        let agent = try agent.connect()
        let named = all ? try agent.pending(app: app).map(\.identifier) : identifiers
        guard !named.isEmpty else { return Terminal.write("Nothing waits.") }
        _ = try agent.ask(.cancel(app: app, identifiers: named))
    }
}
