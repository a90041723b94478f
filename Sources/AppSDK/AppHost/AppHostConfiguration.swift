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
        app =
            value("ALDABA_APP_ID").map(BundleID.init(rawValue:))
            ?? readFile(executable + ".aldaba.json").flatMap(Self.manifestID)
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
        return AppHostConfiguration(
            environment: ProcessInfo.processInfo.environment, executable: executable ?? CommandLine.arguments[0],
            readFile: { FileManager.default.contents(atPath: $0) })
    }

    private struct Manifest: Decodable {
        let id: BundleID
    }

    private static func manifestID(_ content: Data) -> BundleID? {
        (try? JSONDecoder().decode(Manifest.self, from: content))?.id
    }
}
