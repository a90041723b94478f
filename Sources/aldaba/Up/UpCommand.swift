import AldabaConfiguration
import ArgumentParser
import Foundation
import Logging
import Networking

/// `aldaba up`: the whole path on this machine, for development.
struct UpCommand: AsyncParsableCommand, ServerSettingGroups {
    static let configuration = CommandConfiguration(
        commandName: "up", abstract: "Run a server, an agent and a demo app on this machine.",
        usage: "aldaba up [<options>]",
        discussion: """
            Server and devices are for development: their device tokens are those of the sandbox, unless --environment \
            names another, and plain http on loopback needs no token. \(SettingsHelp.places)

            EXAMPLES:
              aldaba up                       everything, with its data kept in the data folder
              aldaba up --ephemeral --json    for a test: free ports, a temporary folder, one line of JSON
              aldaba up --devices 2           two devices of one person, for the relay
              aldaba up --nodes 3             three servers on PostgreSQL and NATS, which are on this machine
            """)
    @Flag(help: "Take free ports and a temporary folder that is removed at the end.") var ephemeral = false
    @Flag(help: "Print one line of JSON on standard output when everything is ready, and nothing else.")
    var json = false
    @Flag(help: "Do not print a line for each notification that a device gets.") var quiet = false
    @Flag(name: .customLong("no-app"), help: "Do not start the demo app; the agent starts it when it is needed.")
    var withoutApp = false
    @Option(help: "The number of devices to run, 1 to 8; the demo app runs on the first.")
    var devices = 1
    @Option(help: "The number of servers to run, 1 to 9; more than one use PostgreSQL and NATS, which are started too.")
    var nodes = 1
    @OptionGroup var newDatabases: NewDatabaseOption
    @OptionGroup var file: ConfigurationOption
    @OptionGroup(title: SettingTitle.shared) var shared: SharedSettings
    @OptionGroup(title: SettingTitle.server) var listeners: ListenerSettings
    @OptionGroup(title: SettingTitle.server) var server: ServerSettings
    @OptionGroup(title: SettingTitle.server) var media: MediaSettings
    @OptionGroup(title: SettingTitle.server) var console: ConsoleSettings
    @OptionGroup(title: SettingTitle.agent) var device: DeviceSettings

    /// - Parameter folder: A data folder that takes the place of every other.
    private func values(environment: [String: String], folder: String?) throws -> ConfigurationValues {
        let words = serverWords + device.words + (folder.map { ["--data=\($0)"] } ?? [])
        return try values(of: .up, words, environment: environment)
    }

    func validate() throws {
        guard (1...8).contains(devices) else { throw ValidationError("--devices must be 1 to 8") }
        guard (1...9).contains(nodes) else { throw ValidationError("--nodes must be 1 to 9") }
        guard !ephemeral || shared.data == nil else {
            throw ValidationError("--ephemeral takes a temporary folder: leave --data out, or leave --ephemeral out")
        }
    }

    func run() async throws {
        var environment = ProcessInfo.processInfo.environment
        var temporary: String?
        if ephemeral {
            let folder =
                FileManager.default.temporaryDirectory.path + "/aldaba-\(UUID().uuidString.prefix(8).lowercased())"
            temporary = folder
        }
        defer { if let temporary { try? FileManager.default.removeItem(atPath: temporary) } }
        let database = nodes > 1 ? try await startDatabase(environment, folder: temporary) : nil
        defer {
            database?.stop()
            if temporary != nil { database?.remove() }
        }
        if let database {
            environment["ALDABA_POSTGRES"] = database.postgres
            environment["ALDABA_NATS"] = database.nats
        }
        let values = try values(environment: environment, folder: temporary)
        // An option of this command is no setting of its server's yet.
        environment["ALDABA_POSTGRES"] = values.text(.postgres) ?? environment["ALDABA_POSTGRES"]
        LogSetup.bootstrap(level: .warning)
        values.warn(Logger(label: "aldaba.up"))
        let bar = ProgressBar(ProgressMeter("starting server, agent and demo app"))
        defer { bar.end() }
        let plan = try await UpPlan(
            values, file: file.config, environment: environment, isEphemeral: ephemeral,
            startsApp: !withoutApp, deviceCount: devices, nodeCount: nodes, database: database,
            newDatabases: newDatabases.databases)
        if json {
            try await UpRun(plan).run { summary in
                bar.end()
                try Self.write(summary.json())
            }
        } else {
            let show: @Sendable (String) -> Void = { line in _ = try? Self.write(line) }
            try await UpRun(plan, notificationLine: quiet ? nil : show).run { summary in
                bar.end()
                try Self.write(Terminal.text(summary.text()))
            }
        }
    }

    /// Starts PostgreSQL and NATS beside a data folder.
    private func startDatabase(_ environment: [String: String], folder: String?) async throws -> UpDatabase {
        let values = try values(environment: environment, folder: folder)
        let folder = values.text(.data).map(DataFolder.init) ?? .standard(environment: environment)
        guard values.text(.postgres) == nil, values.text(.nats) == nil else {
            throw CommandError(.invalidInput, "--nodes starts its own PostgreSQL and NATS; leave postgres and nats out")
        }
        try folder.make()
        return try await UpDatabase.start(beside: folder, isEphemeral: ephemeral)
    }

    /// Writes at once, also into a pipe.
    private static func write(_ text: String) throws {
        try FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
    }
}
