import AgentEngine
import AgentProtocol
import AgentRuntime
import AldabaConfiguration
import ArgumentParser
import Foundation
import LinuxDesktop
import Logging
import Networking
import PushCore
import Scheduling

/// `aldaba agent`: the device's end of the path.
struct AgentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agent", abstract: "Run and inspect the agent, which shows notifications on this device.",
        usage: "aldaba agent [run] [<options>]\naldaba agent <subcommand>",
        discussion: """
            Without a subcommand it runs the agent, as `aldaba agent run`, whose options are its settings: \
            `aldaba agent run --help` lists them.

            EXAMPLES:
              aldaba agent                                   notifications of this machine's own programs
              aldaba agent --agent-server push.example.com:5228 --agent-control https://push.example.com:8443
              aldaba agent status
              aldaba agent app install todo.json
            """,
        subcommands: [Run.self, Status.self, Apps.self, App.self] + debugging, defaultSubcommand: Run.self)

    #if DEBUG
        private static let debugging: [any ParsableCommand.Type] = [Steps.self]

        /// `aldaba agent steps`: the steps at which a debug build can be made to die.
        struct Steps: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "The steps of a debug build, before and after which ALDABA_FAULT_FILE lets it die.",
                shouldDisplay: false)

            func run() { for step in AgentStep.allCases { print(step.rawValue) } }
        }
    #else
        private static let debugging: [any ParsableCommand.Type] = []
    #endif

    /// `aldaba agent run`, and `aldaba agent` alone.
    struct Run: AsyncParsableCommand, SettingGroups {
        static let configuration = CommandConfiguration(
            abstract: "Run the agent (the default).", usage: "aldaba agent [run] [<options>]",
            discussion: SettingsHelp.places)
        @Flag(help: "Print lines of JSON about the agent's progress on standard output.") var reportReady = false
        @OptionGroup var file: ConfigurationOption
        @OptionGroup(title: SettingTitle.shared) var shared: SharedSettings
        @OptionGroup(title: SettingTitle.agent) var device: DeviceSettings
        @OptionGroup(title: SettingTitle.agent) var addresses: AgentAddressSettings

        func run() async throws {
            let environment = ProcessInfo.processInfo.environment
            let values = try values(
                of: .agent, shared.words + device.words + addresses.words, environment: environment)
            var configuration = try AgentAssembly.configuration(values, environment: environment)
            configuration.reportsStates = reportReady
            SupervisorWatch.begin(environment: environment)
            LogSetup.bootstrap(level: values.logLevel, format: values.logFormat)
            values.warn(Logger(label: "aldaba.agent"))
            let logger = Logger(label: "aldaba.agent")
            let monitor = values.text(.agentMetricsPort).map { _ in
                AgentMonitor(socket: configuration.socketPath, port: values.number(.agentMetricsPort))
            }
            let presenter = try AgentAssembly.presenter(values, environment: environment, logger: logger)
            let clock = try SystemClock(
                localtime: LocalZones.shared.currentFile, zoneFolder: LocalZones.shared.folder,
                busAddress: SystemBus.address(environment: environment),
                logger: logger)
            let agent = try Agent(
                configuration: configuration, presenter: presenter, activator: presenter as? DesktopPresenter,
                distributor: AgentAssembly.distributor(values, logger: logger),
                focus: X11WindowFocusSource(environment: environment), clock: clock,
                positions: AgentAssembly.positions(values, environment: environment), logger: logger
            ) { event in
                switch event {
                case .listening: ReadyNotice.send(environment: environment)
                case .sessionOpened: monitor?.sessionOpened()
                case .sessionClosed: monitor?.sessionClosed()
                default: break
                }
                if reportReady { AgentAssembly.report(event, hasScreen: presenter.hasScreen) }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await agent.run() }
                group.addTask { await StopSignals.wait() }
                if let monitor { group.addTask { try await monitor.run(logger: logger) } }
                try await group.next()
                group.cancelAll()
                try await group.waitForAll()
            }
        }
    }

    /// `aldaba agent status`.
    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show the state of the agent and its apps.")
        @Flag(help: "Print a JSON object.") var json = false
        @OptionGroup var agent: AgentOption

        func run() throws { try Self.show(agent, json: json) }

        /// The results of an extension: the outcomes of its notifications, the most frequent first, and the number of
        /// failures.
        private static func line(_ version: AgentStatus.ExtensionVersion) -> String {
            let outcomes = version.outcomes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            let all = outcomes.reduce(0) { $0 + $1.value }
            let failed = outcomes.filter { ExtensionOutcome(text: $0.key)?.isSuccess != true }.reduce(0) {
                $0 + $1.value
            }
            let words = outcomes.map { "\(TerminalText.line($0.key)) \($0.value)" }.joined(separator: ", ")
            return "service extension \(TerminalText.line(version.version)): \(words); \(failed) of \(all) failed"
        }

        static func show(_ agent: AgentOption, json: Bool) throws {
            guard case .status(let status) = try agent.connect().ask(.status) else { throw unexpected() }
            if json { return print(try JSONLine.of(status)) }
            let words = ["not asked yet", "not allowed", "allowed", "allowed quietly", "allowed for now"]
            print(Terminal.text("agent     process \(status.process)"))
            print(
                Terminal.text("device    \(status.device ?? (status.hasServer ? "not enrolled yet" : "not enrolled"))"))
            let server =
                status.hasServer
                ? "not connected\(status.serverFault.map { ": \(TerminalText.line($0))" } ?? ""); tried again and again"
                : "none: only the apps' own notifications"
            print(Terminal.text("server    \(status.isConnected ? "connected" : server)"))
            let screen = status.hasScreen ? "the desktop's" : "none: notifications are kept and not shown"
            print(
                Terminal.text("screen    \(status.screenFault.map { "none now: \(TerminalText.line($0))" } ?? screen)"))
            for app in status.apps {
                let word = words.indices.contains(app.authorization) ? words[app.authorization] : "unknown"
                print(
                    Terminal.text(
                        "app       \(app.id)  \(TerminalText.line(app.name))  "
                            + "\(app.isConnected ? "runs" : "does not run"), \(word), "
                            + "\(app.listed) in the list, badge \(app.badge)"))
                if let fault = app.tokenFault {
                    print(Terminal.text("          no device token: \(TerminalText.line(fault))"))
                }
                for version in app.extensions ?? [] { print("          \(Self.line(version))") }
            }
        }
    }

    /// `aldaba agent app`: the apps of this device.
    struct App: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Install, list and remove apps on this device.",
            subcommands: [Install.self, List.self, Remove.self, Enter.self])

        /// `aldaba agent app install`.
        struct Install: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Install an app's manifest, or replace it.")
            @Argument(help: "The manifest, a JSON file.") var manifest: String
            @OptionGroup var agent: AgentOption

            func run() throws {
                guard let bytes = try PrivateFile.bytes(manifest) else {
                    throw CommandError(.invalidInput, "there is no file \(manifest)")
                }
                let read: AppManifest
                do { read = try AppManifest.read(Data(bytes)) } catch {
                    throw CommandError(.invalidInput, "\(manifest): \(error)")
                }
                if let fault = read.missingProgram() { throw CommandError(.invalidInput, "\(manifest): \(fault)") }
                try agent.begunFolder().make()
                let folder = AppFolder(path: agent.location.folder.manifests)
                try print(folder.install(read))
                if read.provesBySecret { print(folder.secretPath(of: read.id)) }
                // A running agent looks at its apps when it is asked something; any other looks when
                // it starts.
                _ = try? agent.connect().ask(.status)
            }
        }

        /// `aldaba agent app list`.
        struct List: ParsableCommand {
            static let configuration = CommandConfiguration(abstract: "List the installed apps.")
            @Flag(help: "Print a JSON array of the manifests.") var json = false
            @OptionGroup var location: FolderOption

            func run() throws {
                let content = AppFolder(path: try location.begun().manifests).load()
                for (file, fault) in content.faults { Terminal.write("\(file): \(fault)") }
                let apps = content.apps.values.sorted { $0.id < $1.id }
                if json { return print(try JSONLine.of(apps)) }
                for app in apps { print(TerminalText.line("\(app.id)  \(app.name)  \(app.executable)")) }
            }
        }

        /// `aldaba agent app remove`.
        struct Remove: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Remove an app, its queued notifications and its device token.")
            @Argument(help: "The app's bundle id.") var app: BundleID
            @OptionGroup var agent: AgentOption

            func run() throws {
                guard try AppFolder(path: agent.location.folder.manifests).remove(app) else {
                    throw CommandError(
                        .invalidInput, "no app \(app) is installed; `aldaba agent app list` shows those that are")
                }
                // A running agent looks at its apps when it is asked something; any other looks when
                // it starts.
                _ = try? agent.connect().ask(.status)
            }
        }
    }
}

/// Puts an agent together from configuration.
enum AgentAssembly {
    static func configuration(
        _ values: ConfigurationValues, environment: [String: String]
    ) throws -> AgentConfiguration {
        let folder = values.text(.data).map(DataFolder.init) ?? .standard(environment: environment)
        try folder.make()
        let left = try ServerAddresses.read(folder)
        let server = try server(
            device: values.text(.agentServer) ?? left?.device, control: values.text(.agentControl) ?? left?.control)
        let made = DevelopmentCertificates.Paths(folder: folder.certificates).authority
        var configuration = AgentConfiguration(
            dataFolder: folder.root,
            socketPath: values.text(.agentSocket) ?? socket(folder, environment),
            server: server,
            certificateAuthorityFile: values.text(.agentCA)
                ?? (FileManager.default.fileExists(atPath: made) ? made : nil),
            enrolmentKey: try values.enrolmentKey()?.wrappedValue,
            environment: values.text(.environment).flatMap(PushEnvironment.init) ?? .production,
            backOffBase: .milliseconds(values.number(.reconnectAfter)),
            backOffCap: values.number(.reconnectAfter) < 1000 ? .seconds(30) : .seconds(60))
        configuration.mediaNetworks = values.addressRanges(.mediaNetworks)
        if values.flag(.relayLAN) { configuration.nearbyBusAddress = SystemBus.address(environment: environment) }
        return configuration
    }

    /// - Returns: `nil` when nothing names one: an agent without a server has the apps' own notifications.
    private static func server(device: String?, control: String?) throws -> AgentConfiguration.Server? {
        if device == nil, control == nil { return nil }
        guard let device = device.flatMap(ServerAddresses.parts), let control else {
            throw CommandError(
                .invalidInput,
                "a server is named by both of --agent-server HOST:PORT and --agent-control https://HOST:PORT")
        }
        return AgentConfiguration.Server(
            host: device.host, port: device.port,
            controlURL: control.hasSuffix("/") ? String(control.dropLast()) : control)
    }

    private static func socket(_ folder: DataFolder, _ environment: [String: String]) -> String {
        if let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/") {
            return runtime + "/aldaba/agent.sock"
        }
        return folder.agentSocket(environment: environment)
    }

    static func presenter(
        _ values: ConfigurationValues, environment: [String: String], logger: Logger
    ) throws -> any Presenter {
        let choice = values.text(.presenter)
        let address = choice == "headless" ? nil : DesktopPresenter.sessionBusAddress()
        let login = LoginPlace(environment: environment)
        if let address, let presenter = DesktopPresenter(address: address, login: login, logger: logger) {
            return presenter
        }
        if choice == "desktop" {
            throw CommandError(
                .failed, "there is no session bus; set DBUS_SESSION_BUS_ADDRESS, or choose --presenter headless")
        }
        return HeadlessPresenter(logger: logger, hook: values.text(.presenterHook))
    }

    /// - Returns: `nil` where there is no session bus, or none is wanted.
    static func distributor(_ values: ConfigurationValues, logger: Logger) -> (any PushDistributor)? {
        guard values.text(.presenter) != "headless", let address = DesktopPresenter.sessionBusAddress() else {
            return nil
        }
        return UnifiedPushBus(address: address, logger: logger)
    }

    /// - Returns: `nil` where no source of positions is configured.
    static func positions(_ values: ConfigurationValues, environment: [String: String]) -> (any PositionSource)? {
        switch values.text(.position).flatMap(PositionChoice.init) {
        case .geoclue:
            GeoCluePosition(busAddress: SystemBus.address(environment: environment), desktopID: "aldaba")
        case .file(let path): FilePosition(path: path)
        case .command(let command): ProgramPosition(command: command, environment: environment)
        case PositionChoice.none?, nil: nil
        }
    }

    /// Reports an event to the process that started the agent, where it needs it.
    static func report(_ event: AgentEvent, hasScreen: Bool) {
        let report: AgentReport
        switch event {
        case .listening(let socketPath): report = .listening(socket: socketPath, hasScreen: hasScreen)
        case .registered(let app, let token): report = .registered(app: app.rawValue, token: token)
        case .appConnected(let app): report = .connected(app: app.rawValue)
        case .reported(let reported):
            report = .reported(
                notification: "\(reported.notification)", app: reported.app?.rawValue,
                title: reported.title,
                states: reported.states.map { $0.state.text + ($0.note.map { " (\($0))" } ?? "") })
        default: return
        }
        guard let line = try? report.line() else { return }
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }
}
