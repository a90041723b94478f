import AgentEngine
import AgentProtocol
import AldabaConfiguration
import ArgumentParser

extension AgentCommand {
    /// `aldaba agent apps`: the apps with their device tokens.
    struct Apps: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the apps of the running agent with their device tokens, and those of UnifiedPush.")
        @Flag(help: "Print a JSON array.") var json = false
        @OptionGroup var agent: AgentOption

        func run() throws {
            guard case .status(let status) = try agent.connect().ask(.status) else { throw unexpected() }
            let apps = status.apps.filter { $0.id != NotificationsCommand.terminal }
            let pushApps = status.unifiedPush ?? []
            if json { return print(try JSONLine.of(apps.map(Entry.app) + pushApps.map(Entry.unifiedPush))) }
            if apps.isEmpty, pushApps.isEmpty {
                Terminal.write("No app is installed; `aldaba agent app install` installs one.")
            }
            for app in apps {
                print(TerminalText.line("\(app.id)  \(app.token ?? Terminal.text("no device token yet"))  \(app.name)"))
            }
            for app in pushApps {
                let waiting = app.waiting > 0 ? "  " + Terminal.text("\(app.waiting) waiting") : ""
                let endpoint = app.endpoint ?? Terminal.text("no endpoint yet")
                print(TerminalText.line("\(app.service)  \(endpoint)  \(app.description)\(waiting)"))
            }
        }

        /// An element of the array: an app that has a manifest, or one of UnifiedPush.
        private enum Entry: Encodable {
            case app(AgentStatus.App)
            case unifiedPush(AgentStatus.PushApp)

            func encode(to encoder: any Encoder) throws {
                switch self {
                case .app(let app): try app.encode(to: encoder)
                case .unifiedPush(let app): try app.encode(to: encoder)
                }
            }
        }
    }
}

extension AgentOption {
    /// The device token of an app on this machine.
    ///
    /// - Throws: ``CommandError`` where the agent does not know the app, or the app has no token.
    func deviceToken(of app: String) throws -> String {
        guard case .status(let status) = try connect().ask(.status) else { throw unexpected() }
        guard let found = status.apps.first(where: { $0.id.rawValue == app }) else {
            throw CommandError(
                .invalidInput, "--app: the agent knows no app \(app); `aldaba agent apps` lists those that it knows")
        }
        guard let token = found.token else {
            throw CommandError(
                .invalidInput,
                "--app: \(app) has no device token: it gets one when it registers for remote notifications and the "
                    + "agent reaches its server")
        }
        return token
    }
}
