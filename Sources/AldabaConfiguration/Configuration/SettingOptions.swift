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
    /// The data folder.
    @Option(.data) package var data: String?
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

/// The settings of the server alone, but for those of ``ListenerSettings``, ``MediaSettings`` and ``ConsoleSettings``.
package struct ServerSettings: SettingOptions {
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
    @Option(.fcmQuota) var fcmQuota: String?
    @Option(.fcmDeviceQuota) var fcmDeviceQuota: String?
    @Option(.legacyFCM) var legacyFCM: String?
    @Flag(no: .legacyFCM) var noLegacyFCM: Bool
    @Option(.topicQuota) var topicQuota: String?
    @Option(.webhookNetworks) var webhookNetworks: String?
    @Option(.relayWakeHub) var relayWakeHub: String?
    @Option(.hubBroadcastMinimum) var hubBroadcastMinimum: String?

    /// Made by the parser, which fills it in.
    package init() {}

    /// The argument of each option.
    package var given: [ConfigurationKey: String?] {
        [
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
    @Option(.appleLimits) var appleLimits: String?
    @Flag(no: .appleLimits) var noAppleLimits: Bool
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
            .sharedPort: sharedPort, .appleLimits: noAppleLimits ? "false" : appleLimits,
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

/// The groups of settings that every program has.
///
/// A command has each group as a property of its own, and no group has groups: a debug build of the parser validates the groups of
/// a group anew for each validation of the outer one, which every start of a program would wait for.
package protocol SettingGroups {
    /// The configuration file that was named.
    var file: ConfigurationOption { get }
    /// The settings that server and agent share.
    var shared: SharedSettings { get }
}

/// The groups of settings of a program that is a server.
package protocol ServerSettingGroups: SettingGroups {
    /// The settings of the listeners.
    var listeners: ListenerSettings { get }
    /// The other settings of the server.
    var server: ServerSettings { get }
    /// The settings of the files of notifications.
    var media: MediaSettings { get }
    /// The settings of the console.
    var console: ConsoleSettings { get }
}

extension ServerSettingGroups {
    /// The given options of all groups.
    package var serverWords: [String] {
        shared.words + listeners.words + server.words + media.words + console.words
    }
}

/// The titles of groups in help.
package enum SettingTitle {
    /// The title of ``SharedSettings``.
    package static let shared = "Settings of server and agent"
    /// The title of the groups of ``ServerSettingGroups``.
    package static let server = "Settings of the server"
    /// The title of ``DeviceSettings``.
    package static let agent = "Settings of the agent"
}

extension SettingGroups {
    /// Reads the given options together with the environment and the file.
    ///
    /// - Parameter words: The given options of the program's groups.
    package func values(
        of program: ConfiguredProgram, _ words: [String], environment: [String: String]
    ) throws -> ConfigurationValues {
        try ConfigurationFile.read(program: program, arguments: words, path: file.config, environment: environment)
    }
}
