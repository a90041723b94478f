import ArgumentParser
import CommandCore
import Foundation
import Logging
import Observability

/// `aldaba serve`: the server.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the server.", discussion: ConfigurationDocument.help(for: .serve))
    @Option(help: "The configuration file (default: aldaba.yaml in the current folder, if there).") var config: String?
    @Flag(help: "Print one line of JSON with the addresses on standard output when ready.") var reportReady = false
    @Argument(parsing: .allUnrecognized, help: .hidden) var settings: [String] = []

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let values = try ConfigurationFile.read(
            program: .serve, arguments: settings, path: config, environment: environment)
        let configuration = try ServerConfiguration(values, environment: environment)
        SupervisorWatch.begin(environment: environment)
        LogBeginning.bootstrap(level: values.logLevel)
        values.warn(Logger(label: "aldaba.serve"))
        try configuration.folder.make()
        let lock = try DataFolder.lock(configuration.folder.serveLock)
        try await Self.serve(configuration) { addresses in
            try addresses.write(configuration.folder)
            if reportReady { try FileHandle.standardOutput.write(contentsOf: Data((addresses.line() + "\n").utf8)) }
        }
        try? FileManager.default.removeItem(atPath: configuration.folder.addresses)
        withExtendedLifetime(lock) {}
    }
}
