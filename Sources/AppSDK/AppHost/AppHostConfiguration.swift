import AgentProtocol
import Foundation

/// The app's configuration from its environment: its bundle id, and the socket of its agent.
package struct AppHostConfiguration: Sendable {
    /// The bundle id; `nil` when neither environment nor manifest names one.
    package var app: BundleID?
    /// The role of this process: the app itself, or its service extension.
    package var role = ConnectionRole.app
    /// The path of the agent's Unix socket.
    package var socketPath: String
    /// The folders that may have files which the app came with: that of its manifest first.
    package var resourceFolders: [String] = []
    /// Whether the app ends when its standard input closes.
    package var isSupervised: Bool
    /// How long a launch waits for the agent's welcome before it goes on without knowing its cause.
    package var launchTimeout = Duration.seconds(1)

    /// Makes a configuration of known parts, for tests.
    package init(
        app: BundleID?, socketPath: String, isSupervised: Bool = false,
        launchTimeout: Duration = .seconds(1)
    ) {
        self.launchTimeout = launchTimeout
        self.app = app
        self.socketPath = socketPath
        self.isSupervised = isSupervised
    }

    /// Reads environment and manifest. Empty variables count as absent.
    ///
    /// - Parameters:
    ///   - executable: The path of the running executable; its manifest is `<executable>.aldaba.json`.
    ///   - readFile: A file's content, `nil` where there is none.
    package init(environment: [String: String], executable: String, readFile: (String) -> Data?) {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        let manifest = readFile(executable + ".aldaba.json").flatMap {
            try? JSONDecoder().decode(Manifest.self, from: $0)
        }
        app = value("ALDABA_APP_ID").map(BundleID.init(rawValue:)) ?? manifest?.id
        resourceFolders = [value("ALDABA_APP_RESOURCES") ?? manifest?.resources].compactMap(\.self)
        role = value("ALDABA_ROLE").map(ConnectionRole.init(name:)) ?? .app
        isSupervised = value("ALDABA_SUPERVISED") != nil
        let folder =
            value("XDG_RUNTIME_DIR") ?? value("XDG_STATE_HOME") ?? (value("HOME") ?? NSHomeDirectory())
            + "/.local/state"
        socketPath = value("ALDABA_AGENT_SOCKET") ?? folder + "/aldaba/agent.sock"
    }

    /// The configuration of this process.
    package static func current() -> AppHostConfiguration {
        let executable = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        var configuration = AppHostConfiguration(
            environment: ProcessInfo.processInfo.environment, executable: executable ?? CommandLine.arguments[0],
            readFile: { FileManager.default.contents(atPath: $0) })
        configuration.resourceFolders += bundleFolders()
        return configuration
    }

    /// The folder of the main bundle, and of those that SwiftPM makes beside the program.
    private static func bundleFolders() -> [String] {
        let folder = Bundle.main.bundlePath
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return [Bundle.main.resourcePath ?? folder]
            + names.filter { $0.hasSuffix(".resources") || $0.hasSuffix(".bundle") }.sorted().map { "\(folder)/\($0)" }
    }

    private struct Manifest: Decodable {
        let id: BundleID
        let resources: String?
    }
}
