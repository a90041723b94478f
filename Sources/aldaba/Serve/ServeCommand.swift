import AldabaConfiguration
import ArgumentParser
import Foundation
import Logging
import Networking

/// `aldaba serve`: the server.
struct ServeCommand: AsyncParsableCommand, ServerSettingGroups {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the server.", usage: "aldaba serve [<options>]",
        discussion: """
            \(SettingsHelp.places)

            EXAMPLES:
              aldaba serve --host 0.0.0.0 --certificate chain.pem --certificate-key key.pem
              aldaba serve --config /etc/aldaba/aldaba.yaml --data /var/lib/aldaba
            """)
    @Flag(help: "Print one line of JSON with the addresses on standard output when ready.") var reportReady = false
    @Flag(help: "Check the settings and PostgreSQL, say what is wrong, and end.") var check = false
    @Option(help: .hidden) var loadBalancerPort: [Int] = []
    @OptionGroup var newDatabases: NewDatabaseOption
    @OptionGroup var file: ConfigurationOption
    @OptionGroup(title: SettingTitle.shared) var shared: SharedSettings
    @OptionGroup(title: SettingTitle.server) var listeners: ListenerSettings
    @OptionGroup(title: SettingTitle.server) var server: ServerSettings
    @OptionGroup(title: SettingTitle.server) var media: MediaSettings
    @OptionGroup(title: SettingTitle.server) var console: ConsoleSettings

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let values = try values(of: .serve, serverWords, environment: environment)
        var configuration = try ServerConfiguration(values, environment: environment)
        configuration.loadBalancerPorts = loadBalancerPort
        if check { return try await Self.check(configuration) }
        SupervisorWatch.begin(environment: environment)
        LogSetup.bootstrap(level: values.logLevel, format: values.logFormat)
        values.warn(Logger(label: "aldaba.serve"))
        try configuration.folder.make()
        let lock = try DataFolder.lock(configuration.folder.serveLock)
        try newDatabases.begin(configuration.folder)
        try await Self.serve(configuration) { [configuration] addresses in
            try addresses.write(configuration.folder)
            ReadyNotice.send(environment: environment)
            if reportReady { try FileHandle.standardOutput.write(contentsOf: Data((addresses.line() + "\n").utf8)) }
        }
        try? FileManager.default.removeItem(atPath: configuration.folder.addresses)
        withExtendedLifetime(lock) {}
    }
}
