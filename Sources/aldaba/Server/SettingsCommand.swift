import AgentEngine
import AgentProtocol
import AldabaConfiguration
import ArgumentParser
import Foundation

/// `aldaba settings`: what a person allows each app.
struct SettingsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings", abstract: "Show or change the permissions of an app.",
        discussion: """
            `aldaba settings` lists the apps, `aldaba settings APP` one app's settings, and \
            `aldaba settings APP sounds=off style=alert` changes some. `aldaba settings all quiet-hours=22:00-07:00` \
            keeps all but what is urgent off the screen for a part of the day. `aldaba settings APP --open` has the app \
            show the settings that it has of its own.
            """)
    @Argument(help: "The app's id.") var app: BundleID?
    @Argument(help: "NAME=VALUE for each setting to change.") var changes: [String] = []
    @Flag(help: "Have the app show its own settings; it is started if it does not run.") var open = false
    @Flag(help: "Print JSON.") var json = false
    @OptionGroup var agent: AgentOption

    func validate() throws {
        guard !open || app != nil && changes.isEmpty && !json else {
            throw ValidationError("--open goes with an app's id alone: aldaba settings APP --open")
        }
    }

    func run() throws {
        guard let app else { return try AgentCommand.Status.show(agent, json: json) }
        let client = try agent.connect()
        if open {
            _ = try client.ask(.openSettings(app: app))
            return
        }
        if !changes.isEmpty {
            var values: [String: String] = [:]
            for change in changes {
                let parts = change.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
                    String.init)
                guard parts.count == 2 else { throw CommandError(.usage, "\(change) is not NAME=VALUE") }
                values[parts[0]] = parts[1]
            }
            _ = try client.ask(.set(app: app, values: values))
        }
        guard case .settings(let settings) = try client.ask(.settings(app: app)) else { throw unexpected() }
        if json { return print(try JSONLine.of(settings)) }
        for setting in settings {
            print(TerminalText.line("\(setting.name)=\(setting.value)  (\(setting.allowed.joined(separator: ", ")))"))
        }
    }
}
