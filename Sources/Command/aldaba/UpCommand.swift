import ArgumentParser
import CommandCore
import Foundation
import Logging
import Observability

/// `aldaba up`: the whole path on this machine, for development.
struct UpCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "up", abstract: "Run the whole path on this machine: server, agent and demo app.",
        discussion: ConfigurationDocument.help(for: .up))
    @Flag(help: "Take free ports and a temporary folder that is removed at the end.") var ephemeral = false
    @Flag(help: "Print one line of JSON on standard output when everything is ready, and nothing else.")
    var json = false
    @Flag(name: .customLong("no-app"), help: "Do not start the demo app; the agent starts it when it is needed.")
    var withoutApp = false
    @Option(help: "The configuration file (default: aldaba.yaml in the current folder, if there).") var config: String?
    @Argument(parsing: .allUnrecognized, help: .hidden) var settings: [String] = []

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        var words = settings
        var temporary: String?
        if ephemeral {
            let folder =
                FileManager.default.temporaryDirectory.path + "/aldaba-\(UUID().uuidString.prefix(8).lowercased())"
            temporary = folder
            words += ["--data=\(folder)"]
        }
        defer { if let temporary { try? FileManager.default.removeItem(atPath: temporary) } }
        let values = try ConfigurationFile.read(
            program: .up, arguments: words, path: config, environment: environment)
        LogBeginning.bootstrap(level: .warning)
        values.warn(Logger(label: "aldaba.up"))
        let plan = try await UpPlan(
            values, file: config, environment: environment, isEphemeral: ephemeral, startsApp: !withoutApp)
        if json {
            try await UpRun(plan).run { summary in
                try FileHandle.standardOutput.write(contentsOf: Data((summary.json() + "\n").utf8))
            }
        } else {
            try await UpRun(plan).run { summary in
                try FileHandle.standardOutput.write(contentsOf: Data((summary.text() + "\n").utf8))
            }
        }
    }
}
