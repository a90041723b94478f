import AgentEngine
import AgentProtocol
import Foundation
import Logging
import Platform

/// Starts apps as processes in sessions of their own; output goes to the log folder.
///
/// Guarantees: an app inherits none of the agent's own settings (`ALDABA_…`), some of which are secret. An app outlives
/// the agent, unless the agent is supervised: then the app is too, by the same standard input.
package struct ProcessLauncher: AppLauncher {
    private static let supervised = "ALDABA_SUPERVISED"

    private let logFolder: String
    private let environment: [String: String]
    private let input: Int32

    /// Launches for this agent; the log folder is made with the first app's log.
    ///
    /// - Parameters:
    ///   - logFolder: Where the output of apps goes.
    ///   - environment: The agent's own variables.
    ///   - input: The agent's own standard input.
    package init(
        logFolder: String, environment: [String: String] = ProcessInfo.processInfo.environment,
        input: Int32 = STDIN_FILENO
    ) {
        self.logFolder = logFolder
        self.environment = environment
        self.input = input
    }

    /// Starts the manifest's program, with the manifest's variables above the agent's and `variables` above both. Its
    /// output is added to `APP.log` in the log folder; the log and the folder are this user's alone.
    package func launch(
        _ manifest: AppManifest, variables: [String: String], ended: @escaping @Sendable (pid_t) -> Void
    ) throws(AppLaunchError) -> pid_t {
        let log: Int32
        do {
            log = try ProgramLog.open(folder: logFolder, name: manifest.id.rawValue)
        } catch {
            throw AppLaunchError(description: error.description)
        }
        defer { close(log) }
        let isSupervised = environment[Self.supervised] != nil
        var environment = environment.filter { !$0.key.hasPrefix("ALDABA_") }
        environment.merge(manifest.environment) { $1 }
        environment.merge(variables) { $1 }
        environment["ALDABA_APP_RESOURCES"] = manifest.resources
        environment["ALDABA_APP_GROUPS"] = manifest.applicationGroups.joined(separator: ":")
        environment[Self.supervised] = isSupervised ? "1" : nil
        let program = ChildProgram(
            path: manifest.executable, arguments: manifest.arguments, environment: environment)
        do {
            let pid = try program.start(input: isSupervised ? input : -1, output: log, errors: log)
            reap(pid, ended)
            return pid
        } catch {
            throw AppLaunchError(description: error.description)
        }
    }

    /// Waits for a process on a thread of its own: only this frees the process's entry in the process table.
    private func reap(_ pid: pid_t, _ ended: @escaping @Sendable (pid_t) -> Void) {
        NamedThread.begin("aldaba-app", stackSize: 128 << 10) {
            _ = ChildProgram.reap(pid)
            ended(pid)
        }
    }
}
