import ArgumentParser

/// Settings as options of a command: each is named, explained and completed according to its row of the table. The
/// ``ConfigurationReader`` checks their arguments together with the environment and the file.
package protocol SettingOptions: ParsableArguments {
    /// The argument of each option; `nil` where it was not given.
    var given: [ConfigurationKey: String?] { get }
}

extension SettingOptions {
    /// The given options as arguments for ``ConfigurationReader``, in the order of the table.
    package var words: [String] {
        let given = given
        return ConfigurationKey.allCases.compactMap { key in
            (given[key] ?? nil).map { "--\(key.rawValue)=\($0)" }
        }
    }
}

extension Option where Value == String? {
    /// The option of a setting; that of a Boolean one needs no value, and then means yes.
    init(_ key: ConfigurationKey) {
        let row = key.row
        let up = key.defaultOfUp.map { "; of `up`: \($0)" } ?? ""
        let ending = row.defaultText.map { " (default: \($0)\(up))" } ?? ""
        let help = ArgumentHelp(
            "\(row.sentence)\(ending)", valueName: row.type == .flag ? "yes|no" : row.type.placeholder)
        let name = NameSpecification.customLong(key.rawValue)
        if row.type == .flag {
            self.init(
                wrappedValue: nil, name: name, defaultAsFlag: "true", parsing: .next, help: help,
                completion: .list(["true", "false"]))
        } else {
            self.init(wrappedValue: nil, name: name, help: help, completion: row.type.completion)
        }
    }
}

extension Flag where Value == Bool {
    /// The hidden flag `--no-KEY` of a Boolean setting.
    init(no key: ConfigurationKey) {
        self.init(wrappedValue: false, name: .customLong("no-\(key.rawValue)"), help: .hidden)
    }
}

extension ConfigurationType {
    /// The placeholder of the value in help.
    var placeholder: String {
        switch self {
        case .choice(let choices): choices.joined(separator: "|")
        case .position: "source"
        case .addressRanges: "addresses"
        case .serverNames: "names"
        case .address: "host:port"
        case .ipAddress: "address"
        case .secureURL: "https://host:port"
        case .port: "port"
        case .path: "path"
        case .number: "number"
        case .text, .flag: "text"
        }
    }

    /// The shell's completions of the value.
    fileprivate var completion: CompletionKind? {
        switch self {
        case .choice(let choices): .list(choices)
        case .path: .file()
        case .position: .list(["geoclue", "none", "file:", "command:"])
        default: nil
        }
    }
}

/// The settings that server and agent share.
package struct SharedSettings: SettingOptions {
    @Option(.data) var data: String?
    @Option(.environment) var environment: String?
    @Option(.enrolmentKey) var enrolmentKey: String?
    @Option(.enrolmentKeyFile) var enrolmentKeyFile: String?
    @Option(.logLevel) var logLevel: String?
    @Option(.logFormat) var logFormat: String?

    /// Made by the parser, which fills it in.
    package init() {}

    /// The argument of each option.
    package var given: [ConfigurationKey: String?] {
        [
            .data: data, .environment: environment, .enrolmentKey: enrolmentKey, .enrolmentKeyFile: enrolmentKeyFile,
            .logLevel: logLevel, .logFormat: logFormat,
        ]
    }
}

/// The settings of the server alone.
package struct ServerSettings: SettingOptions {
    @OptionGroup var listeners: ListenerSettings
    @Option(.development) var development: String?
    @Flag(no: .development) var noDevelopment: Bool
    @Option(.acceptAnyCredential) var acceptAnyCredential: String?
    @Flag(no: .acceptAnyCredential) var noAcceptAnyCredential: Bool
    @Option(.acceptAnyToken) var acceptAnyToken: String?
    @Flag(no: .acceptAnyToken) var noAcceptAnyToken: Bool
    @Option(.testNetwork) var testNetwork: String?
    @Flag(no: .testNetwork) var noTestNetwork: Bool
    @Option(.postgres) var postgres: String?
    @Option(.nats) var nats: String?
    @Option(.enrolmentOpen) var enrolmentOpen: String?
    @Flag(no: .enrolmentOpen) var noEnrolmentOpen: Bool
    @OptionGroup var media: MediaSettings
    @Option(.fcmQuota) var fcmQuota: String?
    @Option(.fcmDeviceQuota) var fcmDeviceQuota: String?
    @Option(.legacyFCM) var legacyFCM: String?
    @Flag(no: .legacyFCM) var noLegacyFCM: Bool
    @Option(.topicQuota) var topicQuota: String?
    @Option(.webhookNetworks) var webhookNetworks: String?
    @Option(.relayWakeHub) var relayWakeHub: String?
    @Option(.hubBroadcastMinimum) var hubBroadcastMinimum: String?
    @OptionGroup var console: ConsoleSettings

    /// Made by the parser, which fills it in.
    package init() {}

    /// The argument of each option.
    package var given: [ConfigurationKey: String?] {
        let own: [ConfigurationKey: String?] = [
            .development: noDevelopment ? "false" : development,
            .acceptAnyCredential: noAcceptAnyCredential ? "false" : acceptAnyCredential,
            .acceptAnyToken: noAcceptAnyToken ? "false" : acceptAnyToken,
            .testNetwork: noTestNetwork ? "false" : testNetwork,
            .postgres: postgres, .nats: nats,
            .enrolmentOpen: noEnrolmentOpen ? "false" : enrolmentOpen, .fcmQuota: fcmQuota,
            .fcmDeviceQuota: fcmDeviceQuota, .legacyFCM: noLegacyFCM ? "false" : legacyFCM, .topicQuota: topicQuota,
            .webhookNetworks: webhookNetworks,
            .relayWakeHub: relayWakeHub, .hubBroadcastMinimum: hubBroadcastMinimum,
        ]
        return [listeners.given, media.given, console.given].reduce(own) { $0.merging($1) { own, _ in own } }
    }
}

/// The settings of the files of notifications.
package struct MediaSettings: SettingOptions {
    @Option(.mediaURL) var url: String?
    @Option(.mediaQuota) var quota: String?
    @Option(.mediaTeamQuota) var teamQuota: String?
    @Option(.mediaExpiry) var expiry: String?
    @Option(.mediaBucket) var bucket: String?
    @Option(.mediaBucketRegion) var bucketRegion: String?
    @Option(.mediaBucketCredentials) var bucketCredentials: String?

    /// Made by the parser, which fills it in.
    package init() {}

    /// The argument of each option.
    package var given: [ConfigurationKey: String?] {
        [
            .mediaURL: url, .mediaQuota: quota, .mediaTeamQuota: teamQuota, .mediaExpiry: expiry,
            .mediaBucket: bucket, .mediaBucketRegion: bucketRegion, .mediaBucketCredentials: bucketCredentials,
        ]
    }
}

/// The settings of the console.
package struct ConsoleSettings: SettingOptions {
    @Option(.consolePayloads) var payloads: String?
    @Option(.consoleIssuer) var issuer: String?
    @Option(.consoleClientID) var clientID: String?
    @Option(.consoleClientSecretFile) var clientSecretFile: String?

    /// Made by the parser, which fills it in.
    package init() {}

    /// The argument of each option.
    package var given: [ConfigurationKey: String?] {
        [
            .consolePayloads: payloads, .consoleIssuer: issuer, .consoleClientID: clientID,
            .consoleClientSecretFile: clientSecretFile,
        ]
    }
}

/// The settings of the server's listeners: names, ports, connections and the certificate.
package struct ListenerSettings: SettingOptions {
    @Option(.host) var host: String?
    @Option(.serverNames) var serverNames: String?
    @Option(.apnsPort) var apnsPort: String?
    @Option(.devicePort) var devicePort: String?
    @Option(.controlPort) var controlPort: String?
    @Option(.httpPort) var httpPort: String?
    @Option(.metricsPort) var metricsPort: String?
    @Option(.metricsHost) var metricsHost: String?
    @Option(.legacyPort) var legacyPort: String?
    @Option(.legacyFeedbackPort) var legacyFeedbackPort: String?
    @Option(.sharedPort) var sharedPort: String?
    @Option(.connectionsPerAddress) var connectionsPerAddress: String?
    @Option(.deviceLogins) var deviceLogins: String?
    @Option(.proxies) var proxies: String?
    @Option(.certificate) var certificate: String?
    @Option(.certificateKey) var certificateKey: String?

    /// Made by the parser, which fills it in.
    package init() {}

    /// The argument of each option.
    package var given: [ConfigurationKey: String?] {
        [
            .host: host, .serverNames: serverNames, .apnsPort: apnsPort, .devicePort: devicePort,
            .controlPort: controlPort, .httpPort: httpPort, .metricsPort: metricsPort, .metricsHost: metricsHost,
            .legacyPort: legacyPort, .legacyFeedbackPort: legacyFeedbackPort,
            .sharedPort: sharedPort,
            .connectionsPerAddress: connectionsPerAddress, .deviceLogins: deviceLogins, .proxies: proxies,
            .certificate: certificate, .certificateKey: certificateKey,
        ]
    }
}

/// The settings of the agent that `up` takes, too.
package struct DeviceSettings: SettingOptions {
    @Option(.presenter) var presenter: String?
    @Option(.presenterHook) var presenterHook: String?
    @Option(.position) var position: String?
    @Option(.mediaNetworks) var mediaNetworks: String?
    @Option(.relayLAN) var relayLAN: String?
    @Flag(no: .relayLAN) var noRelayLAN: Bool
    @Option(.reconnectAfter) var reconnectAfter: String?

    /// Made by the parser, which fills it in.
    package init() {}

    /// The argument of each option.
    package var given: [ConfigurationKey: String?] {
        [
            .presenter: presenter, .presenterHook: presenterHook, .position: position, .mediaNetworks: mediaNetworks,
            .relayLAN: noRelayLAN ? "false" : relayLAN, .reconnectAfter: reconnectAfter,
        ]
    }
}

/// The addresses at which the agent finds its server, and apps find the agent; `up` determines them by itself.
package struct AgentAddressSettings: SettingOptions {
    @Option(.agentServer) var agentServer: String?
    @Option(.agentControl) var agentControl: String?
    @Option(.agentCA) var agentCA: String?
    @Option(.agentSocket) var agentSocket: String?
    @Option(.agentMetricsPort) var agentMetricsPort: String?

    /// Made by the parser, which fills it in.
    package init() {}

    /// The argument of each option.
    package var given: [ConfigurationKey: String?] {
        [
            .agentServer: agentServer, .agentControl: agentControl, .agentCA: agentCA, .agentSocket: agentSocket,
            .agentMetricsPort: agentMetricsPort,
        ]
    }
}

/// The text of help about settings.
package enum SettingsHelp {
    /// The sentence on the other origins of a setting.
    package static let places =
        "Each setting may also stand in an environment variable (ALDABA_APNS_PORT for --apns-port), or without its dashes "
        + "in aldaba.yaml."
}

/// The configuration file and what goes with it in every program.
package struct ConfigurationOption: ParsableArguments {
    @Option(
        help: "The configuration file (default: aldaba.yaml in the current folder, if there).", completion: .file())
    /// The file that was named.
    package var config: String?

    /// Made by the parser, which fills it in.
    package init() {}
}

/// All settings of `serve`, each also as an `ALDABA_` variable, or in `aldaba.yaml`.
package struct ServeSettings: ParsableArguments {
    @OptionGroup var file: ConfigurationOption
    @OptionGroup(title: "Settings of server and agent") var shared: SharedSettings
    @OptionGroup(title: "Settings of the server") var server: ServerSettings

    /// Made by the parser, which fills it in.
    package init() {}

    /// Reads them together with the environment and the file.
    package func values(environment: [String: String]) throws -> ConfigurationValues {
        try ConfigurationFile.read(
            program: .serve, arguments: shared.words + server.words, path: file.config, environment: environment)
    }
}

/// All settings of `agent`.
package struct AgentSettings: ParsableArguments {
    @OptionGroup var file: ConfigurationOption
    @OptionGroup(title: "Settings of server and agent") var shared: SharedSettings
    @OptionGroup(title: "Settings of the agent") var device: DeviceSettings
    @OptionGroup(title: "Settings of the agent") var addresses: AgentAddressSettings

    /// Made by the parser, which fills it in.
    package init() {}

    /// Reads them together with the environment and the file.
    package func values(environment: [String: String]) throws -> ConfigurationValues {
        try ConfigurationFile.read(
            program: .agent, arguments: shared.words + device.words + addresses.words, path: file.config,
            environment: environment)
    }
}

/// All settings of `up`, and of `doctor`, which looks at what `up` would do.
package struct UpSettings: ParsableArguments {
    /// The configuration file that was named.
    @OptionGroup package var file: ConfigurationOption
    @OptionGroup(title: "Settings of server and agent") var shared: SharedSettings
    @OptionGroup(title: "Settings of the server") var server: ServerSettings
    @OptionGroup(title: "Settings of the agent") var device: DeviceSettings

    /// Made by the parser, which fills it in.
    package init() {}

    /// The data folder that was named on the command line.
    package var data: String? { shared.data }

    /// Reads them together with the environment and the file.
    ///
    /// - Parameter folder: A data folder that takes the place of every other.
    package func values(environment: [String: String], folder: String? = nil) throws -> ConfigurationValues {
        let words = shared.words + server.words + device.words + (folder.map { ["--data=\($0)"] } ?? [])
        return try ConfigurationFile.read(
            program: .up, arguments: words, path: file.config, environment: environment)
    }
}
