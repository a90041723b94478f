import AgentEngine
import AgentProtocol
import AldabaConfiguration
import ArgumentParser
import Foundation

/// `aldaba notifications`: the notification centre in a terminal.
struct NotificationsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notifications", abstract: "List, open and dismiss delivered notifications.",
        subcommands: [
            List.self, Threads.self, Show.self, Open.self, Act.self, Dismiss.self, PendingCommand.self,
            CancelCommand.self, NextNotificationCommand.self,
        ],
        defaultSubcommand: List.self)

    /// The number by which a notification is named; `--` is not needed before a negative one.
    struct Name: ParsableArguments {
        @Argument(parsing: .allUnrecognized, help: "The notification's number, as `list` shows it.")
        var numbers: [String] = []

        func validate() throws {
            // Every argument that no option takes arrives here, and so do misspelt options.
            guard let option = numbers.first(where: { $0.hasPrefix("-") && Int64($0) == nil }) else { return }
            let known = ["--json", "--agent-socket", "--data", "--text", "--action", "--all", "--app", "--help"]
            let meant = NearestWord.to(option, among: known).map { ". Did you mean '\($0)'?" } ?? ""
            throw ValidationError("Unknown option '\(option)'\(meant)")
        }

        func number() throws -> Int64 {
            guard let text = numbers.first, numbers.count == 1, let number = Int64(text) else {
                throw CommandError(.usage, "name one notification by its number, as `aldaba notifications` shows it")
            }
            return number
        }
    }

    /// The app under whose name the terminal's own notifications appear.
    static let terminal: BundleID = "aldaba.notify"

    static func listed(_ agent: AgentOption, app: BundleID? = nil) throws -> [ListedNotification] {
        guard case .list(let list) = try agent.connect().ask(.list(app: app)) else { throw unexpected() }
        return list
    }

    /// Number, app and text.
    private static func line(_ item: ListedNotification) -> String {
        let text = [item.content.title, item.content.subtitle, item.content.body].filter { !$0.isEmpty }
        return TerminalText.line("\(item.notification.id)  \(item.appName)  \(text.joined(separator: " - "))")
    }

    /// `aldaba notifications list`, and `aldaba notifications` alone.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List delivered notifications, the newest last (the default).")
        @Option(help: "Only those of one app.") var app: BundleID?
        @Flag(help: "Print a JSON array.") var json = false
        @OptionGroup var agent: AgentOption

        func run() throws {
            let list = try listed(agent, app: app)
            if json { return print(try JSONLine.of(list)) }
            if list.isEmpty { Terminal.write("There are no notifications.") }
            for item in list {
                print(NotificationsCommand.line(item))
            }
            guard case .status(let status) = try agent.connect().ask(.status) else { throw unexpected() }
            let all = status.apps.filter { app == nil || $0.id == app }.reduce(0) { $0 + $1.listed }
            if all > list.count {
                Terminal.write("\(all - list.count) older ones are not shown; see `threads`, or take some away.")
            }
        }

    }

    /// `aldaba notifications threads`.
    struct Threads: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Summarize delivered notifications by thread, the most relevant first.")
        @Option(help: "Only those of one app.") var app: BundleID?
        @Flag(help: "Print a JSON array.") var json = false
        @OptionGroup var agent: AgentOption

        func run() throws {
            guard case .threads(let threads) = try agent.connect().ask(.threads(app: app)) else { throw unexpected() }
            if json { return print(try JSONLine.of(threads)) }
            if threads.isEmpty { Terminal.write("There are no notifications.") }
            for thread in threads {
                let others = thread.others.map { "  (\(TerminalText.line($0)))" } ?? ""
                print("\(NotificationsCommand.line(thread.newest))\(others)")
            }
        }
    }

    /// `aldaba notifications show`.
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a notification with its attachments and actions.")
        @OptionGroup var name: Name
        @Flag(help: "Print a JSON object.") var json = false
        @OptionGroup var agent: AgentOption

        func run() throws {
            let number = try name.number()
            guard case .list(let found) = try agent.connect().ask(.show(notification: number)), let item = found.first
            else { throw unexpected() }
            if json { return print(try JSONLine.of(item)) }
            let date = Date(timeIntervalSince1970: Double(item.notification.date) / 1000)
            var lines = [
                "\(item.appName), \(ISO8601DateFormatter().string(from: date)), \(item.notification.identifier)"
            ]
            lines += item.content.attachments.map { "attachment  \($0.type)  \($0.path)" }
            lines += item.actions.map {
                "action  \($0.identifier)  \($0.title)\($0.textInput == nil ? "" : "  (takes --text)")"
            }
            lines = lines.map(TerminalText.line)
            let texts = [item.content.title, item.content.subtitle, item.content.body].filter { !$0.isEmpty }
            lines.insert(contentsOf: texts.map(TerminalText.lines), at: 1)
            print(lines.joined(separator: "\n"))
        }
    }

    /// `aldaba notifications open`.
    struct Open: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Open a notification in its app; the app is started if necessary.")
        @OptionGroup var name: Name
        @OptionGroup var agent: AgentOption

        func run() throws {
            _ = try agent.connect().ask(
                .act(notification: try name.number(), action: NotificationAction.open, text: nil))
        }
    }

    /// `aldaba notifications act`.
    struct Act: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Perform an action of a notification.")
        @Option(help: "The action's identifier, as `show` shows it.") var action: String
        @Option(help: "The text of an action that asks for some.") var text: String?
        @OptionGroup var name: Name
        @OptionGroup var agent: AgentOption

        func run() throws {
            _ = try agent.connect().ask(.act(notification: try name.number(), action: action, text: text))
        }
    }

    /// `aldaba notifications dismiss`.
    struct Dismiss: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Dismiss one notification, or all.")
        @OptionGroup var name: Name
        @Flag(help: "All of them.") var all = false
        @Option(help: "With --all: only those of one app.") var app: BundleID?
        @OptionGroup var agent: AgentOption

        func validate() throws {
            guard all || app == nil else { throw ValidationError("--app goes with --all") }
            guard !all || name.numbers.isEmpty else {
                throw ValidationError("give a notification's number, or --all")
            }
        }

        func run() throws {
            let client = try agent.connect()
            guard all else {
                _ = try client.ask(.dismiss(notification: try name.number()))
                return
            }
            if try client.dismissAll(app: app) == 0 { Terminal.write("There are no notifications.") }
        }
    }
}

extension AgentClient {
    /// Dismisses the notifications of the list, of one app or of all.
    ///
    /// - Parameter isMeant: Whether a notification is among those to be dismissed.
    /// - Returns: How many there were.
    @discardableResult
    func dismissAll(app: BundleID?, where isMeant: (ListedNotification) -> Bool = { _ in true }) throws -> Int {
        // A list has at most so many: once these are gone, the older ones are listed.
        var gone: Set<Int64> = []
        while case .list(let list) = try ask(.list(app: app)) {
            let left = list.filter(isMeant).map(\.notification.id).filter { gone.insert($0).inserted }
            if left.isEmpty { break }
            for number in left { try dismiss(number) }
        }
        return gone.count
    }

    /// Dismisses a notification; one that is gone already is no failure.
    private func dismiss(_ number: Int64) throws {
        do { _ = try ask(.dismiss(notification: number)) } catch let failure as CommandError {
            guard failure.exit == .invalidInput else { throw failure }
        }
    }
}
